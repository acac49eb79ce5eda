"""BiMix for downstream tasks: f_i(p) = Σ_j A_ij·p_j^(−α_ij), A, α ≥ 0 (§3.3, RQ4; App. RQ4)."""

import numpy as np

from olmix.regressors.least_squares import Curve
from olmix.regressors.power_law import PowerLaw

__all__ = ["BiMix"]


class BiMix(PowerLaw):
    """A weighted sum of per-domain power laws.

    Parameters
    ----------
    floor
        Added to every weight before the power: sparse mixes hold zeros, where the law is infinite.
    max_exponent
        Upper bound of α; with ``floor`` it keeps every prediction finite.
    ridge
        Weight of the squared distance of the parameters from their start.

    Attributes
    ----------
    scale_ : (tasks, domains), the A_ij; ``exponent_`` : (tasks, domains), the α_ij.
    """

    family = "bimix"
    learned = ("scale_", "exponent_", "loss_")

    def __init__(
        self,
        *,
        floor: float = 1e-3,
        max_exponent: float = 2.0,
        ridge: float = 1e-4,
        max_iterations: int = 200,
    ) -> None:
        self.floor = floor
        self.max_exponent = max_exponent
        self.ridge = ridge
        self.max_iterations = max_iterations

    def _starts(self, X: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
        tasks, domains = len(targets), X.shape[1]
        # θ = (log A, α): equal shares of the task's mean, nearly flat in every domain.
        level = np.log(np.maximum(targets.mean(1), 1e-6) / domains)
        return [
            np.hstack([np.tile(level[:, None], (1, domains)), np.full((tasks, domains), exponent)])
            for exponent in (0.02, 0.1)
        ]

    def _bounds(self, X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tasks, domains = len(targets), X.shape[1]
        ones = np.ones((tasks, domains))
        ceiling = np.log(np.maximum(targets.max(1), 1e-6))[:, None] * ones
        return np.hstack([-30 * ones, 0 * ones]), np.hstack([ceiling, self.max_exponent * ones])

    def _curve(self, X: np.ndarray) -> Curve:
        logs = np.log(X + self.floor)

        def curve(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            scale, exponent = np.split(theta, 2, axis=1)
            terms = np.exp(scale[:, None, :] - exponent[:, None, :] * logs)
            return terms.sum(2), np.concatenate([terms, -terms * logs], axis=2)

        return curve

    def _learn(self, theta: np.ndarray) -> None:
        scale, exponent = np.split(theta, 2, axis=1)
        self.scale_, self.exponent_ = np.exp(scale), exponent.copy()

    def _predict(self, X: np.ndarray) -> np.ndarray:
        logs = np.log(X + self.floor)
        return np.column_stack(
            [
                np.exp(-logs * exponent) @ scale
                for scale, exponent in zip(self.scale_, self.exponent_, strict=True)
            ]
        )
