"""UniMax in closed form, Chameleon's leverage against its formula, natural and uniform."""

import dataclasses

import numpy as np
import pytest
import torch

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.corpus.stretch import DomainStream
from olmix.errors import OlmixError
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer
from olmix.systems.chameleon import Chameleon, domain_embeddings, leverage_scores
from olmix.systems.natural import Natural
from olmix.systems.uniform import Uniform
from olmix.systems.unimax import UniMax


def test_unimax_by_hand():
    """100 tokens, at most 2 epochs: 5 gets 10, 10 gets 20, and 35 each is left for the others."""
    weights = UniMax(epochs=2).mix(np.array([1000.0, 5.0, 10.0, 40.0]), 100)
    assert weights == pytest.approx([0.35, 0.10, 0.20, 0.35])


def test_unimax_is_even_where_nothing_is_scarce():
    assert UniMax(epochs=4).mix(np.array([50.0, 60.0, 70.0]), 100) == pytest.approx([1 / 3] * 3)


def test_unimax_is_the_most_even_mix_under_the_caps():
    """Any weight that could be moved from a larger to a smaller one would break a cap."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        tokens = rng.lognormal(0, 2, size=rng.integers(2, 12))
        budget = float(rng.uniform(0.1, 3.9) * tokens.sum())
        weights = UniMax(epochs=4).mix(tokens, budget)
        caps = 4 * tokens / budget
        assert weights.sum() == pytest.approx(1)
        assert (weights <= caps * (1 + 1e-9)).all()
        free = weights < caps * (1 - 1e-9)
        assert np.ptp(weights[free]) < 1e-9 if free.any() else True
        assert not free.any() or weights.max() <= weights[free].max() + 1e-9


def test_unimax_refuses_what_the_domains_cannot_give():
    with pytest.raises(OlmixError, match="100 tokens of domains that have 20, at most 4 times"):
        UniMax(epochs=4).mix(np.array([10.0, 10.0]), 100)


def test_natural_and_uniform():
    tokens = np.array([30.0, 10.0])
    assert Natural().mix(tokens, 1e9).tolist() == [0.75, 0.25]
    assert Uniform().mix(tokens, 1e9).tolist() == [0.5, 0.5]


def test_leverage_scores_are_the_formula():
    """S = diag(K(K + λkI)⁻¹) with the centred kernel, written out by eigenvalues."""
    embeddings = np.random.default_rng(1).normal(size=(6, 4))
    centre = np.eye(6) - 1 / 6
    kernel = centre @ embeddings @ embeddings.T @ centre
    values, vectors = np.linalg.eigh(kernel)
    expected = (vectors**2 * (values / (values + 3.0 * 6))).sum(1)
    assert leverage_scores(embeddings, 3.0) == pytest.approx(expected / expected.sum())


def test_chameleon_is_a_softmax_of_inverse_leverage_and_disfavours_the_odd_one():
    embeddings = np.array([[1.0, 0], [1.1, 0], [0.9, 0.1], [-4.0, 3.0]])
    scores = leverage_scores(embeddings, 10.0)
    expected = np.exp(1 / scores / 5.0 - (1 / scores / 5.0).max())
    weights = Chameleon(ridge=10.0, temperature=5.0).weights(embeddings)
    assert weights == pytest.approx(expected / expected.sum())
    assert weights.argmin() == 3


def test_chameleon_by_hand_on_three_domains():
    """Three points on a line, ridge 1: K's one eigenvalue is 18, along (−1, 0, 1)/√2.

    The leverages are ½·18/(18 + 1·3), 0 and ½·18/(18 + 1·3), wherever the line is.
    """
    embeddings = np.array([[2.0, -2.0], [5.0, -2.0], [8.0, -2.0]])
    assert leverage_scores(embeddings, 1.0) == pytest.approx([0.5, 0.0, 0.5], abs=1e-12)
    # A little off the line the middle has some: y = (ε, −2ε, ε), of eigenvalue 6ε².
    embeddings[:, 1] = [0.3, -0.6, 0.3]
    along, across = 18 / (18 + 3), 0.54 / (0.54 + 3)
    expected = np.array([along / 2 + across / 6, 4 * across / 6, along / 2 + across / 6])
    shares = expected / expected.sum()
    assert leverage_scores(embeddings, 1.0) == pytest.approx(shares)
    powers = np.exp(1 / shares / 5)
    assert Chameleon(ridge=1.0).weights(embeddings) == pytest.approx(powers / powers.sum())


@pytest.mark.parametrize("size", [0.01, 1e4])
def test_chameleons_ridge_is_for_states_of_one_size(size):
    """Far under it leverage is the distance from the mean; far above it is alike, and so is p."""
    embeddings = size * np.random.default_rng(2).normal(size=(6, 16))
    scores = leverage_scores(embeddings, 10.0)
    if size < 1:
        distances = ((embeddings - embeddings.mean(0)) ** 2).sum(1)
        assert scores == pytest.approx(distances / distances.sum(), rel=1e-3)
    else:
        assert scores == pytest.approx(np.full(6, 1 / 6), rel=1e-3)
        assert Chameleon().weights(embeddings) == pytest.approx(np.full(6, 1 / 6), rel=1e-2)


@pytest.mark.parametrize(("layers", "middle"), [(4, 2), (3, 2), (1, 1)])
def test_embeddings_are_mean_states_after_the_middle_layer(tmp_path, layers, middle):
    tokenizer = TokenizerInfo("0" * 64, 32, 0)
    shape = ModelShape("test", 32, 16, layers, 2, 32, 32)
    for domain in ("a", "b"):
        with StoreWriter(tmp_path / domain, domain=domain, tokenizer=tokenizer) as writer:
            ids = np.random.default_rng(ord(domain)).integers(1, 32, 400)
            writer.add(ids, bytes=400)
    corpus = Corpus.open(tmp_path)
    streams = [DomainStream(corpus[domain], 16, seed=0) for domain in corpus.domains]
    model = Transformer(shape, init=Init("fast", seed=3))
    found = domain_embeddings(model, streams, samples=10, length=12)
    # The first half of the layers is a model of its own.
    half = Transformer(dataclasses.replace(shape, n_layers=middle), init=Init("fast", seed=3))
    half.load_state_dict({k: v for k, v in model.state_dict().items() if k in half.state_dict()})
    half.norm = torch.nn.Identity()
    for stream, mean in zip(streams, found, strict=True):
        with torch.no_grad():
            states = half.hidden(torch.from_numpy(stream.last_of_first_epoch(10)[:, :12]))
        assert mean == pytest.approx(states.mean((0, 1)).numpy(), rel=1e-4, abs=1e-6)
    weights = Chameleon(samples=10, length=12).mix(model, streams)
    assert weights.sum() == pytest.approx(1)
