"""Sampling the mixes of a plan: designed swarms, and the entropies they are made from."""

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.study.mixes import domain_entropies, sample_mixes
from olmix.study.space import open_space
from olmix.study.spec import MixesSpec, SpaceSpec
from olmix.update_sequence import UpdateSequence

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
