import numpy as np
import pytest
from scipy.optimize import lsq_linear

from olmix.regressors.nonnegative import nonnegative_solution


@pytest.mark.parametrize("seed", range(20))
def test_as_scipys_bounded_least_squares(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 12)) @ rng.normal(size=(12, 12))
    target = rng.normal(size=30)
    signed = rng.random(12) < 0.6
    gram = rows.T @ rows + 0.1 * np.eye(12)
    found = nonnegative_solution(gram, rows.T @ target, signed)
    stacked = np.vstack([rows, np.sqrt(0.1) * np.eye(12)])
    expected = lsq_linear(
        stacked, np.r_[target, np.zeros(12)], (np.where(signed, 0, -np.inf), np.inf), tol=1e-14
    ).x
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found[signed] >= 0).all()


def test_without_signs_it_is_the_linear_solution():
    gram, moment = np.diag([1.0, 2.0]), np.array([-3.0, 4.0])
    np.testing.assert_allclose(nonnegative_solution(gram, moment, np.zeros(2, bool)), [-3, 2])
