import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.study.runs import data_seed_of, expanded_mixes, run_settings
from olmix.study.space import open_space
from olmix.study.spec import SpaceSpec, SwarmSpec
from olmix.training.presets import preset
from olmix.updates.sequence import UpdateSequence

DOMAINS = DomainSet.from_token_counts({"web:a": 3000, "web:b": 1000, "books": 4000})
MODEL = {"shape": "tiny-30m", "max_repetition": 40}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    tokenizer = TokenizerInfo("0" * 64, vocab_size=16, end_of_text=0)
    for domain in DOMAINS:
        folder = root / domain.name.replace(":", "-")
        with StoreWriter(folder, domain=domain.name, tokenizer=tokenizer) as store:
            store.add(np.ones(domain.tokens - 1, dtype=int), bytes=domain.tokens)
    return Corpus.open(root)


@pytest.fixture
def settings(corpus):
    def make(model=MODEL, weights=(0.5, 0.0, 0.5), seed=7, **options):
        mix = Mix(DOMAINS.names, weights)
        return run_settings(mix, DOMAINS, corpus, model, data_seed=seed, **options)

    return make


def test_a_run_is_its_preset_and_its_mix(settings, corpus):
    run, base = settings(), preset("tiny-30m")
    assert run.mix == {"web:a": 0.5, "books": 0.5}
    assert (run.sequence_length, run.batch_size) == (base.sequence_length, base.batch_size)
    assert run.learning_rate == base.learning_rate
    assert run.tokens == base.tokens
    assert run.model.vocab_size == corpus.tokenizer.vocab_size
    assert run.tokenizer == corpus.tokenizer.sha256
    assert (run.data_seed, run.max_repetition, run.evaluate_at) == (7, 40, ())


def test_the_scale_overrides_the_preset(settings):
    run = settings({**MODEL, "tokens": 10_000, "batch_size": 4, "learning_rate": 0.5})
    assert run.tokens % (4 * run.sequence_length) == 0
    assert abs(run.tokens - 10_000) < 4 * run.sequence_length
    assert (run.batch_size, run.learning_rate) == (4, 0.5)
    assert settings(evaluate_at=[0.5, 1.0]).evaluate_at == (0.5, 1.0)


def test_what_decides_a_run_decides_its_hash(settings):
    same = settings()
    assert same.hash == settings().hash
    others = [
        settings(seed=8), settings(weights=(0.4, 0.1, 0.5)),
        settings({**MODEL, "learning_rate": 0.5}), settings(evaluate_at=[1.0]),
    ]  # fmt: skip
    assert len({same.hash, *(run.hash for run in others)}) == 5
    # What is hardware's (threads, memory, runs per job) does not.
    assert settings({**MODEL, "threads": 8, "runs_per_job": 3}).hash == same.hash


def test_sampled_runs_have_their_own_data_and_proposals_share_it():
    sampled = SwarmSpec("s", "s", "30m", 3, seed=2)
    proposed = SwarmSpec("p", "study", "target", 2, ("a", "b"), seed=2)
    assert [data_seed_of(sampled, index) for index in range(3)] == [200_000, 200_001, 200_002]
    assert {data_seed_of(proposed, index) for index in range(3)} == {2}
    other = SwarmSpec("t", "t", "30m", 3, seed=3)
    assert data_seed_of(other, 0) not in {data_seed_of(sampled, i) for i in range(1000)}


def test_expanded_mixes_are_over_single_domains():
    space = open_space(SpaceSpec(split="sources"), UpdateSequence(DOMAINS, ()))
    first, second = expanded_mixes(space.names, np.array([[1.0, 0.0], [0.4, 0.6]]), space)
    assert first.to_dict() == pytest.approx({"web:a": 0.75, "web:b": 0.25, "books": 0.0})
    assert second.to_dict() == pytest.approx({"web:a": 0.3, "web:b": 0.1, "books": 0.6})
