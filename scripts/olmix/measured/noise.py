"""Noise of a measured law: what unseen runs differ by from it, correlated over a run's tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Noise", "noise_of"]

# Directions over the tasks that are kept of the residuals' correlation.
_DIRECTIONS = 6


@dataclass(frozen=True)
class Noise:
    """Standard deviations per task, and what the tasks of a run have in common.

    Runs on one source alone vary more than others: ``alone`` is their deviation, ``mixed`` that of
    all others, and mixes between them are in between.
    """

    mixed: np.ndarray  # (tasks,), BPB
    alone: np.ndarray  # (tasks,), BPB
    loadings: np.ndarray  # (tasks, directions): a run's tasks are loadings·shared + own

    def deviation(self, alone: np.ndarray) -> np.ndarray:
        """Standard deviation per task for mixes that are so much of one source: (mixes, tasks)."""
        return self.mixed + alone * (self.alone - self.mixed)

    def standard(self, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of standard deviation 1 with the tasks' correlation: (runs, tasks)."""
        tasks, directions = self.loadings.shape
        own = np.sqrt(np.maximum(1 - (self.loadings**2).sum(1), 0.0))
        shared = rng.normal(size=(runs, directions)) @ self.loadings.T
        return shared + own * rng.normal(size=(runs, tasks))

    def to_dict(self, digits: int) -> dict[str, Any]:
        """The noise as plain values with so many significant digits."""
        names = ("mixed", "alone", "loadings")
        return {name: significant(getattr(self, name), digits) for name in names}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Noise":
        """The noise that `to_dict` wrote."""
        return cls(*(np.array(record[name], float) for name in ("mixed", "alone", "loadings")))


def noise_of(residuals: np.ndarray, alone: np.ndarray) -> Noise:
    """The noise of a law from residuals of runs it has not seen: (runs, tasks).

    ``alone`` says which runs are on one source alone.
    """
    mixed = np.sqrt((residuals[~alone] ** 2).mean(0))
    lonely = np.sqrt((residuals[alone] ** 2).mean(0)) if alone.any() else mixed
    standard = residuals / np.where(alone[:, None], lonely, mixed)
    values, vectors = np.linalg.eigh(np.corrcoef(standard.T))
    kept = slice(-min(_DIRECTIONS, len(values)), None)
    loadings = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    return Noise(mixed, lonely, loadings)


def significant(values: np.ndarray, digits: int) -> list[Any]:
    """Numbers as nested lists with so many significant digits, for small files."""
    return np.vectorize(lambda x: float(f"{x:.{digits}g}"), otypes=[float])(values).tolist()
