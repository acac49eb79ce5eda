"""Choosing from the data: folds of a swarm's runs, and how wrong predictions of unseen runs are."""

import numpy as np

__all__ = ["held_out_folds", "scored_tasks", "share_of_spread"]

# Few runs make folds that leave a law much less to learn from: there are more of them then. Of
# many runs a fold holds enough to be judged by, and each costs more: (runs below, folds).
_FOLDS, _FOLDS_OF_MANY = ((80, 12), (600, 6)), 3
# Choices for a swarm as a whole are made on this many of its tasks: more hardly change them.
_SCORED_TASKS, _SCORED_TASKS_OF_MANY = 16, 6


def held_out_folds(runs: int, seed: int = 0) -> np.ndarray:
    """Which runs each fold holds out: (folds, runs), every run in one fold."""
    wanted = next((folds for below, folds in _FOLDS if runs < below), _FOLDS_OF_MANY)
    count = min(runs, wanted)
    folds = np.random.default_rng(seed).permutation(runs) % count
    return folds == np.arange(count)[:, None]


def scored_tasks(tasks: int, runs: int) -> np.ndarray:
    """Places of the tasks that choices are scored on, spread evenly over all of them."""
    most = _SCORED_TASKS if runs < _FOLDS[-1][0] else _SCORED_TASKS_OF_MANY
    return np.unique(np.linspace(0, tasks - 1, min(tasks, most)).round().astype(int))


def share_of_spread(predicted: np.ndarray, measured: np.ndarray) -> float:
    """Mean absolute error as a share of the mean absolute deviation: of tasks, and their average.

    Half of it is the mean over tasks, half is that of their average, which a mix is proposed for:
    errors of single tasks cancel there, and what all of them share does not. Absolute, as single
    runs that a law misses by far should not decide.
    """
    shares = [
        np.abs(errors).mean(0) / np.maximum(np.abs(values - values.mean(0)).mean(0), 1e-300)
        for errors, values in (
            (predicted - measured, measured),
            ((predicted - measured).mean(1), measured.mean(1)),
        )
    ]
    return float(np.mean([share.mean() for share in shares]))
