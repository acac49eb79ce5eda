"""AutoScale for downstream tasks: f_i(p) = c_i + Σ_j (R(A_ij + p_j))^(−α_ij) (§3.3, RQ4)."""

import numpy as np

from olmix.regressors.least_squares import Curve
from olmix.regressors.power_law import PowerLaw

__all__ = ["AutoScale"]

# A_ij = 0 with p_j = 0 would be an infinite loss; the bound keeps the law finite at every corner.
_SMALLEST_SHARE = 1e-4


class AutoScale(PowerLaw):
    """Power laws in tokens, with the other domains' help written as a share A_ij ∈ [0, 1].

    Parameters
    ----------
    tokens
        R, the number of tokens a run is trained on.
    ridge
        Weight of the squared distance of the parameters from their start.

    Attributes
    ----------
    constant_ : (tasks,), the c_i; ``share_`` and ``exponent_`` : (tasks, domains), A_ij and α_ij.
    """

    family = "autoscale"
    learned = ("constant_", "share_", "exponent_", "loss_")

    def __init__(
        self, *, tokens: float = 3e9, ridge: float = 1e-4, max_iterations: int = 200
    ) -> None:
        self.tokens = tokens
        self.ridge = ridge
        self.max_iterations = max_iterations

    def _starts(self, X: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
        tasks, domains = len(targets), X.shape[1]
        spread = np.maximum(targets.std(1), 1e-4)
        starts = []
        for share in (0.03, 0.3):
            # α such that the domains' terms together are a few spreads of the task.
            exponent = np.log(domains / (4 * spread)) / np.log(self.tokens * share)
            exponent = np.clip(exponent, 0.01, 1.0)[:, None] * np.ones((tasks, domains))
            starts.append(
                np.hstack(
                    [np.full((tasks, domains), share), exponent, 0.9 * targets.min(1)[:, None]]
                )
            )
        return starts

    def _bounds(self, X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tasks, domains = len(targets), X.shape[1]
        ones = np.ones((tasks, domains))
        lower = np.hstack([_SMALLEST_SHARE * ones, 0 * ones, np.zeros((tasks, 1))])
        upper = np.hstack([ones, 2 * ones, np.full((tasks, 1), np.inf)])
        return lower, upper

    def _curve(self, X: np.ndarray) -> Curve:
        domains, size = X.shape[1], np.log(self.tokens)

        def curve(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            share, exponent = theta[:, None, :domains], theta[:, None, domains:-1]
            reach = share + X
            logs = size + np.log(reach)
            terms = np.exp(-exponent * logs)
            jacobian = np.ones((*terms.shape[:2], theta.shape[1]))
            np.divide(-exponent * terms, reach, out=jacobian[:, :, :domains])
            np.multiply(-terms, logs, out=jacobian[:, :, domains:-1])
            return theta[:, -1:] + terms.sum(2), jacobian

        return curve

    def _learn(self, theta: np.ndarray) -> None:
        domains = theta.shape[1] // 2
        self.share_ = theta[:, :domains].copy()
        self.exponent_ = theta[:, domains:-1].copy()
        self.constant_ = theta[:, -1].copy()

    def _predict(self, X: np.ndarray) -> np.ndarray:
        size = np.log(self.tokens)
        columns = [
            constant + np.exp(-exponent * (size + np.log(share + X))).sum(1)
            for constant, share, exponent in zip(
                self.constant_, self.share_, self.exponent_, strict=True
            )
        ]
        return np.column_stack(columns)
