"""What BiMix and AutoScale share: a sum over domains of powers, fitted by least squares."""

from abc import abstractmethod

import numpy as np

from olmix.regressors.base import Regressor
from olmix.regressors.least_squares import Curve, Problem, minimise

__all__ = ["PowerLaw"]

# Steps from every start, after which only the best start of a task goes on.
_TRIAL_STEPS = 20


class PowerLaw(Regressor):
    """A batched least-squares fit from the best of several starts, which is each task's own.

    A subclass says what its parameters are (`_starts`, `_bounds`, `_curve`) and how it reads them
    back (`_learn`). Each has two unknowns per domain, so a swarm smaller than that leaves the fit
    underdetermined; ``ridge`` on the parameters' distance from their start picks the mildest.
    """

    ridge: float
    max_iterations: int

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        targets = Y.T
        lower, upper = self._bounds(X, targets)
        starts = self._starts(X, targets)
        penalty = self.ridge * np.eye(starts[0].shape[1])
        tried = [
            minimise(
                Problem(self._curve(X), targets, lower, upper, penalty=penalty, centre=start),
                start,
                max_iterations=min(_TRIAL_STEPS, self.max_iterations),
            )
            for start in starts
        ]
        best = np.stack([trial.loss for trial in tried]).argmin(0)
        tasks = np.arange(len(targets))
        centre = np.stack(starts)[best, tasks]
        reached = np.stack([trial.theta for trial in tried])[best, tasks]
        problem = Problem(self._curve(X), targets, lower, upper, penalty=penalty, centre=centre)
        solution = minimise(problem, reached, max_iterations=self.max_iterations - _TRIAL_STEPS)
        self._learn(solution.theta)
        self.loss_ = solution.loss

    @abstractmethod
    def _starts(self, X: np.ndarray, targets: np.ndarray) -> list[np.ndarray]: ...

    @abstractmethod
    def _bounds(self, X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def _curve(self, X: np.ndarray) -> Curve: ...

    @abstractmethod
    def _learn(self, theta: np.ndarray) -> None: ...
