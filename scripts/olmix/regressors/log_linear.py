"""Log-linear regression: f_i(p) = c_i + exp(A_iᵀp) (Eq. app_log_linear; Data Mixing Laws)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from olmix.errors import OlmixError
from olmix.regressors.base import Regressor
from olmix.regressors.cross_validation import held_out_folds, scored_tasks, share_of_spread
from olmix.regressors.least_squares import Curve, Normal, Problem, Solution, minimise
from olmix.regressors.terms import Term

__all__ = ["LogLinear"]

# Starting constants c as shares of a task's smallest BPB; each gives a closed-form start for A.
_STARTS = (0.0, 0.5, 0.8, 0.9, 0.97)
# With many domains a step costs seconds: fewer starts are then compared, as they are, and the fit
# may stop earlier. ``converged_`` says which tasks had not settled.
_MANY_DOMAINS, _STARTS_OF_MANY, _TOLERANCE_OF_MANY, _STEPS_OF_MANY = 150, (0.5, 0.9), 1e-5, 25
# Tasks whose median lies in here are taken for bits per byte, as ``delta`` and ``ridge`` expect.
_BPB_RANGE = (0.1, 10.0)
# Ridges that cross-validation chooses from. None starts from the answer of another: a strong ridge
# leads into valleys of the loss where weaker ones stay, which makes them look worse than they are.
_RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)
# A trial only has to rank ridges, or starts: it may end early.
_TRIAL_STEPS, _FIRST_STEPS, _TRIAL_TOLERANCE = 12, 4, 1e-4
# Numbers that the products of all pairs of domains may take, 0.25 GB at most.
_PAIR_VALUES = 64_000_000
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
        intercept (the weights of a mix sum to one). None chooses it for the swarm by
        cross-validation; 0 is the paper's unregularised fit.
    ceiling
        At the corner of the simplex where domain j stands alone, the prediction exceeds c_i by at
        most ``ceiling`` times the largest BPB measured for task i: A_ij ≤ log(ceiling·max y_i).
    max_iterations
        Limit of Gauss-Newton steps per task; 25 at most beyond 150 domains.

    A task in other units (perplexities in the hundreds, say: its median is outside 0.1 to 10) is
    fitted in units of its median, so that all settings act on it as they do on BPB; the law keeps
    its form, as c and the level of A absorb the unit.

    Attributes
    ----------
    coef_ : (tasks, domains), the A_i; ``constant_`` : (tasks,), the c_i ≥ 0;
    loss_ : (tasks,), the Huber loss reached, penalty included; ``converged_`` : (tasks,);
    ridge_ : the ridge in use; ``ridge_errors_`` : {ridge: error of unseen runs as a share of
    their spread}, empty where the ridge was given.
    """

    family = "log_linear"
    learned = ("coef_", "constant_", "loss_", "converged_", "ridge_", "ridge_errors_")
    ridge_: float = 0.0
    ridge_errors_: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        *,
        delta: float = 0.02,
        ridge: float | None = None,
        ceiling: float = 10.0,
        max_iterations: int = 200,
    ) -> None:
        self.delta = delta
        self.ridge = ridge
        self.ceiling = ceiling
        self.max_iterations = max_iterations

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        self._check()
        if self.ridge is None:
            self.fit_and_cross_predict(X, Y, held_out_folds(X), scored_tasks(Y.shape[1], len(X)))
        else:
            self.ridge_errors_ = {}
            self._fit_with(float(self.ridge), X, Y)

    def _check(self) -> None:
        for name in ("delta", "ceiling"):
            if not getattr(self, name) > 0:
                raise OlmixError(f"log_linear: {name} is {getattr(self, name)}, expected above 0")
        if self.max_iterations < 1 or self.max_iterations % 1:
            raise OlmixError(
                f"log_linear: max_iterations is {self.max_iterations}, expected 1, 2, 3, ..."
            )

    def fit_and_cross_predict(
        self, X: np.ndarray, Y: np.ndarray, folds: np.ndarray, tasks: np.ndarray
    ) -> np.ndarray:
        """Choose the ridge on some tasks, fit all, and return those tasks' unseen predictions."""
        self.n_domains_ = X.shape[1]
        trials = self._trials(X, Y[:, tasks], folds)
        self.ridge_errors_ = {
            repr(ridge): share_of_spread(predicted, Y[:, tasks])
            for ridge, predicted in trials.items()
        }
        chosen = min(trials, key=lambda ridge: self.ridge_errors_[repr(ridge)])
        self._fit_with(chosen, X, Y)
        return trials[chosen]

    def _trials(self, X: np.ndarray, Y: np.ndarray, folds: np.ndarray) -> dict[float, np.ndarray]:
        """What fits without a run predict for it, by ridge: every fold and task in one batch."""
        units, (runs, tasks) = _units(Y), Y.shape
        targets = np.tile((Y / units).T, (len(folds), 1))
        seen = np.repeat((~folds).astype(float), tasks, axis=0)
        starts = np.stack([_closed_form_start(X, targets, share, seen) for share in _starts(X)])
        predicted = {}
        for ridge in _RIDGES if self.ridge is None else (float(self.ridge),):
            start = self._best_start(ridge, X, targets, starts, seen)
            theta = self._solve(
                ridge, X, targets, start, seen, _TRIAL_TOLERANCE, _TRIAL_STEPS
            ).theta
            values = theta[:, -1:] + np.exp(theta[:, :-1] @ X.T)
            unseen = folds[:, None, :] * values.reshape(len(folds), tasks, runs)
            predicted[ridge] = unseen.sum(0).T * units
        return predicted

    def _best_start(
        self,
        ridge: float,
        X: np.ndarray,
        targets: np.ndarray,
        starts: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Of several starts of each problem, where a few steps lead furthest down."""
        count, problems = starts.shape[:2]
        every = None if weights is None else np.tile(weights, (count, 1))
        trial = self._solve(
            ridge,
            X,
            np.tile(targets, (count, 1)),
            starts.reshape(count * problems, -1),
            every,
            _TRIAL_TOLERANCE,
            0 if _many(X) else _FIRST_STEPS,
        )
        best = trial.loss.reshape(count, problems).argmin(0)
        return trial.theta.reshape(count, problems, -1)[best, np.arange(problems)]

    def _fit_with(self, ridge: float, X: np.ndarray, Y: np.ndarray) -> None:
        units = _units(Y)
        targets = (Y / units).T
        starts = np.stack([_closed_form_start(X, targets, share) for share in _starts(X)])
        start = self._best_start(ridge, X, targets, starts)
        self.ridge_ = ridge
        tolerance, most = _FIT_TOLERANCE, self.max_iterations
        if _many(X):
            tolerance, most = _TOLERANCE_OF_MANY, min(most, _STEPS_OF_MANY)
        solution = self._solve(ridge, X, targets, start, tolerance=tolerance, most=most)
        self._learn(solution, units)

    def refit(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list["LogLinear"]:
        """Fits on reweighted runs, started from this one: one per row of ``weights`` (R, runs)."""
        replicates, tasks, units = len(weights), Y.shape[1], _units(Y)
        theta = np.column_stack([self.coef_ - np.log(units)[:, None], self.constant_ / units])
        solution = self._solve(
            self.ridge_,
            X,
            np.tile((Y / units).T, (replicates, 1)),
            np.tile(theta, (replicates, 1)),
            np.repeat(weights, tasks, axis=0),
            tolerance=_REFIT_TOLERANCE,
        )
        models = []
        for rows in np.arange(replicates * tasks).reshape(replicates, tasks):
            model = LogLinear(**self.get_params())
            model.ridge_, model.ridge_errors_ = self.ridge_, self.ridge_errors_
            model._learn(_rows(solution, rows), units)
            models.append(model)
        return models

    def _solve(
        self,
        ridge: float,
        X: np.ndarray,
        targets: np.ndarray,
        start: np.ndarray,
        weights: np.ndarray | None = None,
        tolerance: float = _FIT_TOLERANCE,
        most: int | None = None,
    ) -> Solution:
        domains = X.shape[1]
        lower = np.full_like(start, -np.inf)
        lower[:, -1] = 0.0
        upper = np.full_like(start, np.inf)
        # A ceiling is on the scale of the task; tasks that are all zero keep a finite one.
        largest = np.maximum(targets.max(1), 1e-12)
        upper[:, :-1] = np.log(self.ceiling * largest)[:, None]
        penalty = np.zeros((domains + 1, domains + 1))
        penalty[:-1, :-1] = ridge * (np.eye(domains) - 1 / domains)
        problem = Problem(
            _curve(X), targets, lower, upper, penalty, self.delta, weights, normal=_normal(X)
        )
        steps = int(self.max_iterations if most is None else most)
        return minimise(problem, start, max_iterations=steps, tolerance=tolerance)

    def _learn(self, solution: Solution, units: np.ndarray) -> None:
        self.coef_ = solution.theta[:, :-1] + np.log(units)[:, None]
        self.n_domains_ = self.coef_.shape[1]
        self.constant_ = solution.theta[:, -1] * units
        self.loss_ = solution.loss * units**2
        self.converged_ = solution.converged.astype(float)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self.constant_ + np.exp(X @ self.coef_.T)

    def choices(self) -> tuple[str, ...]:
        """The ridge that was chosen, and how wrong each one tried was about unseen runs."""
        if not self.ridge_errors_:
            return ()
        scores = ", ".join(f"{error:.3f} at {ridge}" for ridge, error in self.ridge_errors_.items())
        return (
            f"log-linear: ridge {self.ridge_:g} (error of unseen runs over their spread: {scores})",
        )

    def unseen_error(self) -> float | None:
        """The error at the ridge that was chosen; None where it was given."""
        return self.ridge_errors_.get(repr(self.ridge_))

    def terms(self) -> tuple[Term, ...]:
        """The law as one term, without a curve."""
        tasks = len(self.constant_)
        return (Term(self.family, np.ones(tasks), self.constant_, np.zeros(tasks), self.coef_),)


def _units(Y: np.ndarray) -> np.ndarray:
    """What each task is measured in: 1 for bits per byte, its median for anything else."""
    median = np.median(np.abs(Y), axis=0)
    bpb = (median >= _BPB_RANGE[0]) & (median <= _BPB_RANGE[1])
    return np.where(bpb | (median == 0), 1.0, median)


def _many(X: np.ndarray) -> bool:
    return X.shape[1] > _MANY_DOMAINS


def _starts(X: np.ndarray) -> tuple[float, ...]:
    return _STARTS_OF_MANY if _many(X) else _STARTS


def _rows(solution: Solution, rows: np.ndarray) -> Solution:
    return Solution(solution.theta[rows], solution.loss[rows], solution.converged[rows])


def _curve(X: np.ndarray) -> Curve:
    """Predictions of c + exp(A·p) for parameters θ = (A, c), and the growth exp(A·p) alone."""

    def curve(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # 50 is far beyond any ceiling in use: it only keeps rejected trial steps finite.
        growth = np.exp(np.minimum(theta[:, :-1] @ X.T, 50.0))
        return theta[:, -1:] + growth, growth

    return curve


def _normal(X: np.ndarray) -> Normal:
    """The Gauss-Newton equations of all problems from the mixes and each problem's growth.

    A problem's Jacobian is [growth·X, 1]: it need not be formed.
    """
    grams = _weighted_grams(X)

    def normal(
        growth: np.ndarray, weights: np.ndarray, residuals: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        slope, pull = weights * growth, weights * residuals
        hessian = np.empty((len(growth), X.shape[1] + 1, X.shape[1] + 1))
        hessian[:, :-1, :-1] = grams(slope * growth)
        hessian[:, -1, :-1] = hessian[:, :-1, -1] = slope @ X
        hessian[:, -1, -1] = weights.sum(1)
        return hessian, np.column_stack([(pull * growth) @ X, pull.sum(1)])

    return normal


def _weighted_grams(X: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """From row weights (B, runs) to XᵀWX of each problem, (B, domains, domains)."""
    runs, domains = X.shape
    if runs * domains**2 > _PAIR_VALUES:

        def one_by_one(weights: np.ndarray) -> np.ndarray:
            grams = np.empty((len(weights), domains, domains))
            for gram, roots in zip(grams, np.sqrt(weights), strict=True):
                scaled = X * roots[:, None]
                np.matmul(scaled.T, scaled, out=gram)
            return grams

        return one_by_one

    # The products of every pair of domains make all grams one product of matrices.
    first, second = np.triu_indices(domains)
    pairs = X[:, first] * X[:, second]
    place = np.empty((domains, domains), dtype=int)
    place[first, second] = place[second, first] = np.arange(len(first))

    def at_once(weights: np.ndarray) -> np.ndarray:
        return np.take(weights @ pairs, place, axis=1)

    return at_once


def _closed_form_start(
    X: np.ndarray, targets: np.ndarray, share: float, seen: np.ndarray | None = None
) -> np.ndarray:
    """With c fixed, log(y − c) is linear in A: weighted ridge regression in closed form.

    ``seen`` (problems, runs) is 0 where a problem may not use a run.
    """
    runs, domains = X.shape
    used = targets if seen is None else np.where(seen > 0, targets, np.inf)
    constant = share * np.maximum(used.min(1), 0.0)
    above = np.maximum(targets - constant[:, None], 1e-3)
    weights = above**2 if seen is None else above**2 * seen
    weights /= weights.mean(1, keepdims=True)
    gram = _weighted_grams(X)(weights)
    gram += 1e-3 * runs / domains * np.eye(domains)
    moment = (weights * np.log(above)) @ X
    coefficients = np.linalg.solve(gram, moment[:, :, None])[:, :, 0]
    return np.column_stack([coefficients, constant])
