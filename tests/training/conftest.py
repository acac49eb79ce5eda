"""A small corpus with structure to learn, and settings of a run over it."""

import dataclasses

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo, folder_name
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.training.settings import RunSettings, data_fingerprint

VOCABULARY = 32
SHAPE = ModelShape("test", VOCABULARY, 16, 2, 2, 32, 32)
TOKENIZER = TokenizerInfo("0" * 64, VOCABULARY, 0)


def write_domain(root, domain: str, stride: int, seed: int) -> None:
    """Documents that count in steps of ``stride``, with some noise."""
    random = np.random.default_rng(seed)
    with StoreWriter(root / folder_name(domain), domain=domain, tokenizer=TOKENIZER) as writer:
        for _ in range(100):
            start = random.integers(VOCABULARY)
            ids = (start + stride * np.arange(99)) % (VOCABULARY - 1) + 1
            noisy = random.random(99) < 0.1
            ids[noisy] = random.integers(1, VOCABULARY, noisy.sum())
            writer.add(ids, bytes=300)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    root = tmp_path_factory.mktemp("corpus")
    for seed, (domain, stride) in enumerate([("web:news", 1), ("code", 5), ("math", 7)]):
        write_domain(root, domain, stride, seed)
    return Corpus.open(root)


@pytest.fixture(scope="session")
def settings(corpus) -> RunSettings:
    """A run of 40 steps of 4 sequences of 16 tokens."""
    mix = {"web:news": 0.5, "code": 0.3, "math": 0.2}
    return RunSettings(
        model=SHAPE,
        mix=mix,
        tokens=40 * 4 * 16,
        sequence_length=16,
        batch_size=4,
        learning_rate=0.01,
        corpus=data_fingerprint(corpus, mix),
        tokenizer=corpus.tokenizer.sha256,
        init=Init("fast", seed=1),
        warmup_steps=4,
    )


@pytest.fixture
def changed(settings):
    """The settings with some of them changed."""

    def change(**values) -> RunSettings:
        return dataclasses.replace(settings, **values)

    return change
