"""Choosing from the data: folds of a swarm's runs, and how wrong predictions of unseen runs are."""

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import same_mix

__all__ = ["held_out_folds", "scored_tasks", "share_of_spread", "spread"]

# Few runs make folds that leave a law much less to learn from: there are more of them then. Of
# many runs a fold holds enough to be judged by, and each costs more: (runs below, folds).
_FOLDS, _FOLDS_OF_MANY = ((80, 12), (600, 6)), 3
# Choices for a swarm as a whole are made on this many of its tasks: more hardly change them.
_SCORED_TASKS, _SCORED_TASKS_OF_MANY = 16, 6


def held_out_folds(mixes: np.ndarray, seed: int = 0) -> np.ndarray:
    """Which runs each fold holds out: (folds, runs), every run in one fold.

    Runs of the same mix are in the same fold: a law that has seen one of them knows the others.
    """
    group = same_mix(mixes)
    groups = int(group.max()) + 1
    if groups < 2:
        raise OlmixError(
            f"cross-validation needs runs of 2 or more mixes, got {len(mixes)} of the same"
        )
    wanted = next((folds for below, folds in _FOLDS if groups < below), _FOLDS_OF_MANY)
    count = min(groups, wanted)
    folds = (np.random.default_rng(seed).permutation(groups) % count)[group]
    return folds == np.arange(count)[:, None]


def scored_tasks(tasks: int, runs: int) -> np.ndarray:
    """Places of the tasks that choices are scored on, spread evenly over all of them."""
    most = _SCORED_TASKS if runs < _FOLDS[-1][0] else _SCORED_TASKS_OF_MANY
    return np.unique(np.linspace(0, tasks - 1, min(tasks, most)).round().astype(int))


def spread(values: np.ndarray) -> np.ndarray:
    """Mean absolute deviation of each column, in units of which errors are counted.

    Infinite where all runs have the same value, as such a task says nothing about the mix.
    """
    deviations = np.abs(values - values.mean(0)).mean(0)
    return np.where(deviations <= 1e-9 * np.abs(values).mean(0), np.inf, deviations)


def share_of_spread(predicted: np.ndarray, measured: np.ndarray) -> float:
    """Mean absolute error as a share of the mean absolute deviation: of tasks, and their average.

    Half of it is the mean over tasks, half is that of their average, which a mix is proposed for:
    errors of single tasks cancel there, and what all of them share does not. Absolute, as single
    runs that a law misses by far should not decide.
    """
    shares = [
        np.abs(errors).mean(0) / spread(values)
        for errors, values in (
            (predicted - measured, measured),
            ((predicted - measured).mean(1), measured.mean(1)),
        )
    ]
    return float(np.mean([share.mean() for share in shares]))
