"""Sampling the mixes of a plan: designed swarms, and the entropies they are made from."""

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.study.mixes import collect_metrics, domain_entropies, sample_mixes
from olmix.study.space import open_space
from olmix.study.spec import MixesSpec, SpaceSpec
from olmix.updates.sequence import UpdateSequence

# Nine tokens of text and one that ends the document, each.
TEXTS = {"web:plain": [1] * 9, "web:rich": [1, 2, 3, 4, 5, 6, 7, 8, 9], "books": [1] * 4 + [2] * 5}


@pytest.fixture
def corpus(tmp_path):
    tokenizer = TokenizerInfo("0" * 64, vocab_size=16, end_of_text=0)
    for name, tokens in TEXTS.items():
        folder = tmp_path / "corpus" / name.replace(":", "-")
        with StoreWriter(folder, domain=name, tokenizer=tokenizer) as store:
            store.add(tokens, bytes=len(tokens))
    return tmp_path / "corpus"


@pytest.fixture
def sequence():
    return UpdateSequence(DomainSet.from_token_counts(dict.fromkeys(TEXTS, 10)), (), ())


def sampled(spec, sequence, corpus=None):
    return sample_mixes(spec, sequence, prior=None, distributions={}, caps={}, corpus=corpus)


def entropy(*shares: float) -> float:
    return -sum(share * np.log(share) for share in shares)


def test_entropies_are_of_each_domains_tokens(corpus, sequence):
    found = domain_entropies(open_space(SpaceSpec(), sequence), Corpus.open(corpus))
    assert found == pytest.approx([entropy(0.9, 0.1), np.log(10), entropy(0.4, 0.5, 0.1)])


def test_entropy_of_a_source_is_that_of_its_topics_together(corpus, sequence):
    space = open_space(SpaceSpec(split="sources"), sequence)
    found = dict(zip(space.names, domain_entropies(space, Corpus.open(corpus)), strict=True))
    # Half of `web` is plain: token 1 has (0.9 + 0.1)/2, the end 0.1, eight others 0.05 each.
    assert found["web"] == pytest.approx(entropy(0.5, 0.1, *[0.05] * 8))
    assert found["books"] == pytest.approx(entropy(0.4, 0.5, 0.1))


def test_entropy_weighted_mixes_come_from_the_corpus(corpus, sequence):
    swarm = sampled(MixesSpec("four", SpaceSpec(), 4, kind="entropy_weighted"), sequence, corpus)
    effective = np.exp([entropy(0.9, 0.1), np.log(10), entropy(0.4, 0.5, 0.1)])
    assert swarm.mixes[0] == pytest.approx(np.full(3, 1 / 3))
    assert swarm.mixes[3] == pytest.approx(effective / effective.sum())


def test_designs_need_no_corpus_and_take_no_prior(sequence):
    swarm = sampled(MixesSpec("grid", SpaceSpec(), 5, kind="exponential_grid", seed=3), sequence)
    assert swarm.mixes.shape == (5, 3)
    with pytest.raises(OlmixError, match="takes neither prior nor caps"):
        sampled(MixesSpec("grid", SpaceSpec(), 5, kind="one_at_a_time", capped=True), sequence)


DISTRIBUTIONS = {
    "sparse": {"strengths": [0.5, 5.0], "min_weight": 0.05},
    "dense": {"strengths": [3.0, 30.0], "min_weight": 1e-4},
    "updates": {"strengths": [1.0, 20.0], "min_weight": 1e-4},
}


def drawn(spec, sequence, **options):
    settings = {"prior": None, "caps": {}} | options
    return sample_mixes(spec, sequence, distributions=DISTRIBUTIONS, **settings).mixes


def test_kinds_of_swarms(sequence):
    dense = drawn(MixesSpec("dense", SpaceSpec(), 40, kind="dense"), sequence)
    sparse = drawn(MixesSpec("sparse", SpaceSpec(), 40), sequence)
    assert (dense >= 1e-4).all()
    assert ((sparse == 0) | (sparse >= 0.05)).all()
    assert (sparse == 0).any()
    again = drawn(MixesSpec("sparse", SpaceSpec(), 40), sequence)
    other = drawn(MixesSpec("sparse", SpaceSpec(), 40, seed=1), sequence)
    np.testing.assert_array_equal(sparse, again)
    assert not np.array_equal(sparse, other)


def test_caps_are_met_by_every_mix(sequence):
    spec = MixesSpec("capped", SpaceSpec(), 30, kind="dense", capped=True)
    # 10 tokens each, twice, of 40: half of a mix.
    mixes = drawn(spec, sequence, caps={"repetition": 2, "requested": 40})
    assert mixes.max() <= 0.5 + 1e-12
    free = drawn(MixesSpec("capped", SpaceSpec(), 30, kind="dense"), sequence)
    assert free.max() > 0.5


def test_a_proposal_as_prior_moves_the_swarm(sequence, tmp_path):
    prior = tmp_path / "mix.json"
    prior.write_text('{"web:plain": 0.9, "web:rich": 0.1, "books": 0.0}')
    spec = MixesSpec("strong", SpaceSpec(), 60, kind="dense", prior="study/base")
    spec_tight = MixesSpec("t", SpaceSpec(), 60, kind="dense", strengths=(200.0, 400.0))
    mixes = drawn(spec_tight, sequence, prior=prior)
    # A hundredth of the natural mix, so that no domain is without weight.
    assert mixes.mean(0) == pytest.approx([0.9 * 0.99 + 0.01 / 3, 0.099 + 0.01 / 3, 0.01 / 3],
                                          abs=0.01)  # fmt: skip
    assert drawn(spec, sequence, prior=prior)[:, 0].mean() > 0.7


def test_two_level_mixes_are_around_the_stages_prior(sequence):
    mixes = drawn(MixesSpec("pool", SpaceSpec(), 80, kind="two_level"), sequence)
    books = mixes[:, 2]
    assert books.mean() == pytest.approx(1 / 3, abs=0.08)
    np.testing.assert_allclose(mixes.sum(1), 1)


def test_metrics_are_collected_in_order(tmp_path):
    for run, tasks in (("b", {"x": 1.0, "y": 2.0}), ("a", {"x": 3.0, "y": 4.0})):
        write_json(tmp_path / f"{run}.json", {"tasks": tasks})
    tasks, values = collect_metrics({run: tmp_path / f"{run}.json" for run in ("b", "a")})
    assert tasks == ["x", "y"]
    np.testing.assert_array_equal(values, [[1, 2], [3, 4]])
    write_json(tmp_path / "c.json", {"tasks": {"y": 1.0, "x": 2.0}})
    with pytest.raises(OlmixError, match="run 'c' was scored on other tasks"):
        collect_metrics({"b": tmp_path / "b.json", "c": tmp_path / "c.json"})
    with pytest.raises(OlmixError, match="no evaluations"):
        collect_metrics({})


def test_a_fixed_mix_is_the_same_in_every_run(sequence, tmp_path):
    spec = MixesSpec("again", SpaceSpec(), 3, kind="fixed")
    assert sampled(spec, sequence).mixes == pytest.approx(np.full((3, 3), 1 / 3))
    write_json(tmp_path / "mix.json", {"web:plain": 0.0, "books": 0.75, "web:rich": 0.25})
    swarm = sample_mixes(
        spec, sequence, prior=tmp_path / "mix.json", distributions={}, caps={}, corpus=None
    )
    # In the space's order, and exactly: no share of the natural mix is blended in.
    assert swarm.mixes.tolist() == [[0.0, 0.25, 0.75]] * 3
    assert swarm.report.coverage == {"web:plain": 0, "web:rich": 3, "books": 3}
