"""Data that stand in for a corpus and a suite where none is prepared yet."""

from pathlib import Path

import numpy as np

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.evaluation.tokens import TokenisedInstances

__all__ = ["counting_corpus", "random_instances"]

DOCUMENT, NOISE = 2000, 0.1
PROMPT, GOLD = 350, 30
"""Tokens of an instance, about as those of the paper's tasks."""


def counting_corpus(folder: Path, vocabulary: int, tokens: int) -> Corpus:
    """A corpus of one domain whose documents count in steps of three, with some noise.

    There is something to learn in it; it is the same for the same numbers.
    """
    random = np.random.default_rng(0)
    info = TokenizerInfo("0" * 64, vocabulary, 0)
    with StoreWriter(folder / "counting", domain="counting", tokenizer=info) as writer:
        for _ in range(-(-tokens // DOCUMENT)):
            ids = random.integers(vocabulary) + 3 * np.arange(DOCUMENT - 1)
            noisy = random.random(ids.size) < NOISE
            ids[noisy] = random.integers(vocabulary, size=noisy.sum())
            writer.add(ids % (vocabulary - 1) + 1, bytes=4 * DOCUMENT)
    return Corpus.open(folder)


def random_instances(vocabulary: int, count: int) -> TokenisedInstances:
    """Prompts and golds of random tokens."""
    random = np.random.default_rng(1)

    def texts(length: int) -> list[np.ndarray]:
        sizes = random.integers(length // 2, 2 * length, count)
        return [random.integers(1, vocabulary, size).astype(np.int32) for size in sizes]

    prompts, golds = texts(PROMPT), texts(GOLD)
    sizes = np.array([4 * gold.size for gold in golds])
    return TokenisedInstances(prompts, golds, sizes, {"random": count}, vocabulary - 1)
