"""Computed shuffles: bijections, different by epoch and key, and without visible bias."""

import numpy as np
import pytest
from scipy import stats

from olmix.corpus.permutation import permute, random_key, uniform


def shuffle(size: int, key: int, epoch: int = 0) -> np.ndarray:
    return permute(np.arange(size), size, np.full(size, epoch), key)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 16, 17, 99, 100, 101, 4096, 10_007])
def test_bijection(size):
    for key in range(5):
        assert sorted(shuffle(size, key)) == list(range(size))


def test_one_element_at_a_time_is_the_same():
    whole = shuffle(1000, key=7, epoch=3)
    for index in (0, 1, 500, 999):
        assert permute(np.array([index]), 1000, np.array([3]), 7)[0] == whole[index]


def test_mixed_epochs_in_one_call():
    epochs = np.repeat([0, 1], 50)
    both = permute(np.tile(np.arange(50), 2), 50, epochs, 9)
    assert np.array_equal(both[:50], shuffle(50, 9, 0))
    assert np.array_equal(both[50:], shuffle(50, 9, 1))
    assert not np.array_equal(both[:50], both[50:])


def test_no_domain_is_too_large():
    size = 150_000_000
    images = permute(np.arange(1000), size, np.zeros(1000, int), 1)
    assert len(set(images)) == 1000
    assert images.min() >= 0 and images.max() < size
    # A thousand draws without order: close to uniform over the whole range.
    assert stats.kstest(images / size, "uniform").pvalue > 0.001


@pytest.mark.parametrize("size", [2, 3, 5, 12])
def test_every_place_is_equally_likely(size):
    keys = [random_key("trial", trial) for trial in range(4000)]
    images = np.stack([shuffle(size, key) for key in keys])
    for place in range(size):
        counts = np.bincount(images[:, place], minlength=size)
        assert stats.chisquare(counts).pvalue > 1e-5
    # The pair of the first two images is uniform over the ordered pairs, too.
    pairs = np.bincount(images[:, 0] * size + images[:, 1], minlength=size * size)
    off_diagonal = ~np.eye(size, dtype=bool).reshape(-1)
    assert pairs[~off_diagonal].sum() == 0
    assert stats.chisquare(pairs[off_diagonal]).pvalue > 1e-5


def test_neighbours_do_not_stay_together():
    images = shuffle(10_000, key=5)
    lag = np.corrcoef(images[:-1], images[1:])[0, 1]
    assert abs(lag) < 0.05  # five standard errors


def test_uniform_numbers():
    values = uniform(random_key(1, "x"), 20_000)
    assert values.min() >= 0 and values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 0.001
    assert np.array_equal(values[:100], uniform(random_key(1, "x"), 100))
    assert not np.array_equal(values, uniform(random_key(2, "x"), 20_000))


def test_pinned_values():
    """The order of a run is part of its identity: it must not change with a new version."""
    assert shuffle(8, key=1).tolist() == [6, 1, 7, 0, 5, 4, 2, 3]
    assert random_key(42, "chunks", "arxiv") == 3593237292580142466
