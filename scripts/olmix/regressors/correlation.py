"""Correlations between two sets of measurements, and how sure they are."""

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from olmix.regressors.surrogate import pearson_by_output

__all__ = ["LEVEL", "interval", "resample", "spearman_by_output"]

# Coverage of an interval.
LEVEL = 0.95


def spearman_by_output(predicted: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Spearman rank correlation of each column: Pearson of the ranks, ties sharing theirs."""
    return pearson_by_output(rankdata(predicted, axis=0), rankdata(measured, axis=0))


def resample(
    statistic: Callable[[np.ndarray], np.ndarray], size: int, *, seed: int, resamples: int = 1000
) -> np.ndarray:
    """A statistic of ``size`` observations on bootstrap resamples of them, one per row.

    ``statistic`` takes the row numbers of a resample: all its values are of the same observations,
    so their differences are paired.
    """
    rows = np.random.default_rng(seed).integers(size, size=(resamples, size))
    return np.array([statistic(row) for row in rows])


def interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The percentile interval (low, high) of resampled values."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail], axis=0)
    return low, high
