"""Log-linear regression: f_i(p) = c_i + exp(A_iᵀp) (Eq. app_log_linear; Data Mixing Laws)."""

import numpy as np

from olmix.regressors.base import Regressor
from olmix.regressors.least_squares import Problem, Solution, minimise

__all__ = ["LogLinear"]

# Starting constants c as shares of a task's smallest BPB; each gives a closed-form start for A.
_STARTS = (0.0, 0.5, 0.8, 0.9, 0.97)
# Tasks whose median lies in here are taken for bits per byte, as ``delta`` and ``ridge`` expect.
_BPB_RANGE = (0.1, 10.0)
# Refits start at the answer of the whole swarm and serve intervals: they may stop a little earlier.
_FIT_TOLERANCE, _REFIT_TOLERANCE = 1e-7, 1e-5


class LogLinear(Regressor):
    """One robust log-linear law per task, the regression of OlmixBase (Algorithm 1).

    Without regularisation a domain that few runs contain can take a coefficient past 100, and a
    prediction off the swarm runs to infinity; one such task ruins the average. Two settings keep
    predictions finite over the whole simplex:

    Parameters
    ----------
    delta
        Huber threshold in BPB (the paper's fitting code uses 0.02).
    ridge
        Weight of ‖A_i − mean(A_i)‖² in the loss. The common level is free, because it is the
        intercept (the weights of a mix sum to one). 0 is the weakest.
    ceiling
        At the corner of the simplex where domain j stands alone, the prediction exceeds c_i by at
        most ``ceiling`` times the largest BPB measured for task i: A_ij ≤ log(ceiling·max y_i).
    max_iterations
        Limit of Gauss-Newton steps per task.

    A task in other units (perplexities in the hundreds, say: its median is outside 0.1 to 10) is
    fitted in units of its median, so that all settings act on it as they do on BPB; the law keeps
    its form, as c and the level of A absorb the unit.

    Attributes
    ----------
    coef_ : (tasks, domains), the A_i; ``constant_`` : (tasks,), the c_i ≥ 0;
    loss_ : (tasks,), the Huber loss reached, penalty included; ``converged_`` : (tasks,).
    """

    family = "log_linear"
    learned = ("coef_", "constant_", "loss_", "converged_")
    convex = True

    def __init__(
        self,
        *,
        delta: float = 0.02,
        ridge: float = 1e-4,
        ceiling: float = 10.0,
        max_iterations: int = 200,
    ) -> None:
        self.delta = delta
        self.ridge = ridge
        self.ceiling = ceiling
        self.max_iterations = max_iterations

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        tasks, units = Y.shape[1], _units(Y)
        Y = Y / units
        targets = np.tile(Y.T, (len(_STARTS), 1))
        starts = np.concatenate([_closed_form_start(X, Y.T, share) for share in _STARTS])
        solution = self._solve(X, targets, starts)
        best = solution.loss.reshape(len(_STARTS), tasks).argmin(0) * tasks + np.arange(tasks)
        self._learn(_rows(solution, best), units)

    def refit(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list["LogLinear"]:
        """Fits on reweighted runs, started from this one: one per row of ``weights`` (R, runs)."""
        replicates, tasks, units = len(weights), Y.shape[1], _units(Y)
        theta = np.column_stack([self.coef_ - np.log(units)[:, None], self.constant_ / units])
        solution = self._solve(
            X,
            np.tile((Y / units).T, (replicates, 1)),
            np.tile(theta, (replicates, 1)),
            np.repeat(weights, tasks, axis=0),
            tolerance=_REFIT_TOLERANCE,
        )
        models = []
        for rows in np.arange(replicates * tasks).reshape(replicates, tasks):
            model = LogLinear(**self.get_params())
            model._learn(_rows(solution, rows), units)
            models.append(model)
        return models

    def _solve(
        self,
        X: np.ndarray,
        targets: np.ndarray,
        start: np.ndarray,
        weights: np.ndarray | None = None,
        tolerance: float = _FIT_TOLERANCE,
    ) -> Solution:
        domains = X.shape[1]
        lower = np.full_like(start, -np.inf)
        lower[:, -1] = 0.0
        upper = np.full_like(start, np.inf)
        # A ceiling is on the scale of the task; tasks that are all zero keep a finite one.
        largest = np.maximum(targets.max(1), 1e-12)
        upper[:, :-1] = np.log(self.ceiling * largest)[:, None]
        penalty = np.zeros((domains + 1, domains + 1))
        penalty[:-1, :-1] = self.ridge * (np.eye(domains) - 1 / domains)
        problem = Problem(_curve(X), targets, lower, upper, penalty, self.delta, weights)
        return minimise(problem, start, max_iterations=self.max_iterations, tolerance=tolerance)

    def _learn(self, solution: Solution, units: np.ndarray) -> None:
        self.coef_ = solution.theta[:, :-1] + np.log(units)[:, None]
        self.n_domains_ = self.coef_.shape[1]
        self.constant_ = solution.theta[:, -1] * units
        self.loss_ = solution.loss * units**2
        self.converged_ = solution.converged.astype(float)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self.constant_ + np.exp(X @ self.coef_.T)


def _units(Y: np.ndarray) -> np.ndarray:
    """What each task is measured in: 1 for bits per byte, its median for anything else."""
    median = np.median(np.abs(Y), axis=0)
    bpb = (median >= _BPB_RANGE[0]) & (median <= _BPB_RANGE[1])
    return np.where(bpb | (median == 0), 1.0, median)


def _rows(solution: Solution, rows: np.ndarray) -> Solution:
    return Solution(solution.theta[rows], solution.loss[rows], solution.converged[rows])


def _curve(X: np.ndarray):
    """Predictions and Jacobian of c + exp(A·p) for parameters θ = (A, c)."""
    runs, domains = X.shape

    def curve(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # 50 is far beyond any ceiling in use: it only keeps rejected trial steps finite.
        growth = np.exp(np.minimum(theta[:, :-1] @ X.T, 50.0))
        jacobian = np.empty((len(theta), runs, domains + 1))
        np.multiply(growth[:, :, None], X, out=jacobian[:, :, :-1])
        jacobian[:, :, -1] = 1.0
        return theta[:, -1:] + growth, jacobian

    return curve


def _closed_form_start(X: np.ndarray, targets: np.ndarray, share: float) -> np.ndarray:
    """With c fixed, log(y − c) is linear in A: weighted ridge regression in closed form."""
    runs, domains = X.shape
    constant = share * np.maximum(targets.min(1), 0.0)
    above = np.maximum(targets - constant[:, None], 1e-3)
    weights = above**2 / (above**2).mean(1, keepdims=True)
    gram = np.einsum("ki,bk,kj->bij", X, weights, X, optimize=True)
    gram += 1e-3 * runs / domains * np.eye(domains)
    moment = np.einsum("ki,bk->bi", X, weights * np.log(above))
    coefficients = np.linalg.solve(gram, moment[:, :, None])[:, :, 0]
    return np.column_stack([coefficients, constant])
