import numpy as np
import pytest
from scipy.stats import spearmanr

from olmix.regressors.correlation import interval, resample, spearman_by_output


def test_spearman_is_scipys_with_ties():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, (20, 3)).astype(float), rng.normal(size=(20, 3))
    expected = [spearmanr(x[:, j], y[:, j]).statistic for j in range(3)]
    assert spearman_by_output(x, y) == pytest.approx(expected, abs=1e-12)


def test_a_monotone_relation_has_rank_correlation_one():
    x = np.random.default_rng(1).normal(size=(10, 1))
    assert spearman_by_output(x, np.exp(3 * x))[0] == pytest.approx(1.0)
    assert spearman_by_output(x, -(x**3))[0] == pytest.approx(-1.0)


def test_the_interval_of_a_mean_is_the_normal_one():
    values = np.random.default_rng(2).normal(size=400)
    low, high = interval(resample(lambda rows: values[rows].mean(), 400, seed=0, resamples=4000))
    error = values.std() / np.sqrt(400)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_values_of_a_resample_are_paired():
    values = np.random.default_rng(3).normal(size=30)
    both = resample(lambda r: np.array([values[r].mean(), values[r].mean() + 2]), 30, seed=0)
    assert interval(both[:, 1] - both[:, 0]) == pytest.approx((2.0, 2.0))
    assert np.array_equal(both, resample(
        lambda r: np.array([values[r].mean(), values[r].mean() + 2]), 30, seed=0
    ))  # fmt: skip
