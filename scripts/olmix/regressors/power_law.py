"""What BiMix and AutoScale share: a sum over domains of powers, fitted by least squares."""

from abc import abstractmethod

import numpy as np

from olmix.regressors.base import Regressor
from olmix.regressors.least_squares import Curve, Problem, minimise

__all__ = ["PowerLaw"]


class PowerLaw(Regressor):
    """Several starts of a batched least-squares fit; the best start of each task is kept.

    A subclass says what its parameters are (`_starts`, `_bounds`, `_curve`) and how it reads them
    back (`_learn`). Each has two unknowns per domain, so a swarm smaller than that leaves the fit
    underdetermined; ``ridge`` on the parameters' distance from their start picks the mildest.
    """

    ridge: float
    max_iterations: int

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        targets = Y.T
        candidates = []
        for start in self._starts(X, targets):
            lower, upper = self._bounds(X, targets)
            problem = Problem(
                self._curve(X),
                targets,
                lower,
                upper,
                penalty=self.ridge * np.eye(start.shape[1]),
                centre=start,
            )
            candidates.append(minimise(problem, start, max_iterations=self.max_iterations))
        losses = np.stack([candidate.loss for candidate in candidates])
        best = losses.argmin(0)
        theta = np.stack([candidate.theta for candidate in candidates])
        self._learn(theta[best, np.arange(Y.shape[1])])
        self.loss_ = losses.min(0)

    @abstractmethod
    def _starts(self, X: np.ndarray, targets: np.ndarray) -> list[np.ndarray]: ...

    @abstractmethod
    def _bounds(self, X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def _curve(self, X: np.ndarray) -> Curve: ...

    @abstractmethod
    def _learn(self, theta: np.ndarray) -> None: ...
