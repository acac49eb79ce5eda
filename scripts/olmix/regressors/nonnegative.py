"""Ridge regressions some of whose coefficients may not be negative."""

import numpy as np

__all__ = ["nonnegative_solution"]

# How often a full exchange may fail to improve before variables are exchanged one at a time.
_PATIENCE = 3


def nonnegative_solution(gram: np.ndarray, moment: np.ndarray, signed: np.ndarray) -> np.ndarray:
    """Minimise ½wᵀGw − gᵀw over w with w_j ≥ 0 where ``signed``, G positive definite.

    Block principal pivoting: variables move between 0 and free in blocks, and one by one once
    blocks stop helping, which always ends (Kim and Park, SIAM J. Sci. Comput. 2011).
    """
    size = len(moment)
    tolerance = 1e-9 * max(float(np.abs(moment).max(initial=0.0)), 1e-300)
    free = np.ones(size, dtype=bool)
    fewest, left = size + 1, _PATIENCE
    while True:
        solution = np.zeros(size)
        solution[free] = np.linalg.solve(gram[np.ix_(free, free)], moment[free])
        gradient = gram @ solution - moment
        wrong = signed & np.where(free, solution < 0, gradient < -tolerance)
        count = int(wrong.sum())
        if count == 0:
            return solution
        if count < fewest:
            fewest, left = count, _PATIENCE
        elif left > 0:
            left -= 1
        else:
            wrong = np.arange(size) == np.flatnonzero(wrong)[-1]
        free ^= wrong
