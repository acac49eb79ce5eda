"""Seeded shuffles that are computed, not stored.

A domain of the paper has up to 150 million chunks, of which a proxy run reads a few thousand. A
stored shuffle would cost a gigabyte per domain and epoch; these cost nothing, give any element on
its own, and are the same on every NumPy version.
"""

import hashlib
import math

import numpy as np

__all__ = ["permute", "random_key", "uniform"]

ROUNDS = 8


def random_key(*parts: object) -> int:
    """A 64-bit key for a purpose, such as ``random_key(seed, "order", domain)``."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _scramble(values: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: a bijection of 64-bit integers that looks random."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def uniform(key: int, count: int) -> np.ndarray:
    """``count`` uniform numbers in [0, 1); number k is the same whatever the count."""
    scrambled = _scramble(np.arange(count, dtype=np.uint64) ^ _scramble(np.array([key], np.uint64)))
    return (scrambled >> np.uint64(11)) * 2.0**-53


def permute(indices: np.ndarray, size: int, epochs: np.ndarray, key: int) -> np.ndarray:
    """The images of ``indices`` under the shuffle of ``range(size)`` that belongs to each epoch.

    A Feistel network on pairs (left, right) of a grid just large enough for ``size``: every round
    adds a scrambled function of one half to the other, which is a bijection of the grid whatever
    the function is. Images outside ``range(size)`` are sent through again until they fall inside
    (cycle walking), which leaves a bijection of ``range(size)``.
    """
    width = math.isqrt(max(size - 1, 0)) + 1
    height = -(-size // width)
    epoch_keys = _scramble(epochs.astype(np.uint64) ^ _scramble(np.array([key], np.uint64)))
    images = indices.astype(np.uint64)
    inside = np.zeros(len(images), dtype=bool)
    while not inside.all():
        walking = ~inside
        images[walking] = _feistel(images[walking], width, height, epoch_keys[walking])
        inside = images < size
    return images.astype(np.int64)


def _feistel(values: np.ndarray, width: int, height: int, keys: np.ndarray) -> np.ndarray:
    left: np.ndarray = values // np.uint64(height)
    right: np.ndarray = values % np.uint64(height)
    for number in range(ROUNDS):
        round_keys = keys + np.uint64(number)
        if number % 2 == 0:
            noise = _scramble(right ^ _scramble(round_keys))
            left = (left + noise % np.uint64(width)) % np.uint64(width)
        else:
            noise = _scramble(left ^ _scramble(round_keys))
            right = (right + noise % np.uint64(height)) % np.uint64(height)
    return left * np.uint64(height) + right
