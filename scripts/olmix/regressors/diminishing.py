"""A law with diminishing returns: f_i(p) = c_i + exp(a_i + A_i·p)·Π_j (1 + p_j/s_j)^(−B_ij), B ≥ 0.

Not in the paper. Log-linear says that each percent of a domain changes a task's loss by the same
factor. On real swarms the first percents of a domain help most: here every domain also has a power
law of its own tokens. The law stays convex, as −log is, and so does everything built on that.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from olmix.mix import same_mix
from olmix.regressors.base import Regressor
from olmix.regressors.nonnegative import nonnegative_solution
from olmix.regressors.terms import Term

__all__ = ["Diminishing"]

# What leave-one-out chooses from. Of a swarm: where returns begin to diminish, as a multiple of a
# domain's mean weight, and how much easier the power laws move than the linear part.
_ONSETS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_EASES = (0.3, 1.0)
# Of a task: c as a share of its smallest loss, and the ridge per run.
_SHARES = (0.0, 0.5, 0.7, 0.85, 0.95)
_RIDGES = tuple(float(ridge) for ridge in np.logspace(-7, 0, 15))
# Domains without weight in any run still need a positive onset.
_SMALLEST_SHIFT = 1e-5
# Losses above c are at least this share of the task's median, so that they have a logarithm.
_SMALLEST_LOSS = 1e-3


class Diminishing(Regressor):
    """One law per task, in closed form: ridge regression of log(y − c) on [p, log(1 + p/s)].

    Its settings are chosen by leave-one-out errors, which ridge regression gives without refitting:
    for the swarm as a whole ``onset`` and ``ease``, for each task the constant c and the ridge.
    Then the fit is repeated with B ≥ 0.

    Parameters
    ----------
    onset
        s_j = onset · mean weight of domain j in the swarm; None to choose.
    ease
        Scale of the linear part's features against the power laws', under one ridge; None to
        choose.

    Attributes
    ----------
    constant_, intercept_ : (tasks,); linear_ (A), curved_ (B) : (tasks, domains);
    shift_ : (domains,), s; onset_, ease_ : the choice;
    ridge_ : (tasks,); error_ : (tasks,), leave-one-out error as a share of the task's variance.
    """

    family = "diminishing"
    learned = (
        "constant_", "intercept_", "linear_", "curved_", "shift_", "onset_", "ease_", "ridge_",
        "error_",
    )  # fmt: skip

    def __init__(self, *, onset: float | None = None, ease: float | None = None) -> None:
        self.onset = onset
        self.ease = ease

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        choices = [
            _choose(X, Y, onset, ease)
            for onset in (_ONSETS if self.onset is None else (self.onset,))
            for ease in (_EASES if self.ease is None else (self.ease,))
        ]
        self._learn(min(choices, key=lambda choice: choice.errors.mean()), Y)

    def _learn(self, chosen: "_Choice", Y: np.ndarray) -> None:
        domains = len(chosen.shift)
        self.onset_, self.ease_, self.shift_ = chosen.onset, chosen.ease, chosen.shift
        self.constant_, self.ridge_, self.error_ = chosen.constant, chosen.ridge, chosen.errors
        features = chosen.features - chosen.features.mean(0)
        logs = _log_above(Y, self.constant_)
        gram, moments = features.T @ features, features.T @ (logs - logs.mean(0))
        signed = np.arange(2 * domains) >= domains
        weights = np.array([
            nonnegative_solution(gram + ridge * np.eye(len(gram)), moment, signed)
            for ridge, moment in zip(self.ridge_, moments.T, strict=True)
        ])  # fmt: skip
        self.intercept_ = logs.mean(0) - weights @ chosen.features.mean(0)
        self.linear_ = weights[:, :domains] * self.ease_
        self.curved_ = weights[:, domains:] / np.log1p(1 / self.shift_)

    def _for_trial(self) -> "Diminishing":
        return Diminishing(onset=self.onset_, ease=self.ease_)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self.terms()[0].predict(X)

    def choices(self) -> tuple[str, ...]:
        """Where the returns of a domain begin to diminish, in a sentence."""
        return (
            f"diminishing returns: from {self.onset_:g} times a domain's mean weight on, "
            "by leave-one-out",
        )

    def unseen_error(self) -> float:
        """The mean over tasks of what leave-one-out says."""
        return float(self.error_.mean())

    def terms(self) -> tuple[Term, ...]:
        """The law as one term, with its curve."""
        return (
            Term(
                self.family, np.ones(len(self.constant_)), self.constant_, self.intercept_,
                self.linear_, self.curved_, self.shift_,
            ),
        )  # fmt: skip


@dataclass(frozen=True)
class _Choice:
    """An onset and an ease, with the constant and the ridge of each task that suit them best."""

    onset: float
    ease: float
    shift: np.ndarray  # (domains,)
    features: np.ndarray  # (runs, 2 × domains)
    constant: np.ndarray  # (tasks,)
    ridge: np.ndarray  # (tasks,)
    errors: np.ndarray  # (tasks,), leave-one-out errors as shares of the tasks' variances


def _choose(X: np.ndarray, Y: np.ndarray, onset: float, ease: float) -> _Choice:
    shift = np.maximum(onset * X.mean(0), _SMALLEST_SHIFT)
    # Power laws are scaled to reach 1 where a domain stands alone, as the linear part does.
    features = np.hstack([ease * X, -np.log1p(X / shift) / np.log1p(1 / shift)])
    tasks, smallest = np.arange(Y.shape[1]), Y.min(0)
    ridges = len(X) * np.array(_RIDGES)
    logs = np.hstack([_log_above(Y, share * smallest) for share in _SHARES])
    errors = _leave_one_out(features, logs, ridges, same_mix(X))
    errors = errors.reshape(len(ridges), len(_SHARES), len(tasks))
    # An error of the logarithm times the loss above c is one in BPB.
    above = np.stack([(Y - share * smallest).mean(0) for share in _SHARES])
    errors = errors * above**2 / np.maximum(Y.var(0), 1e-300)
    # A task's own errors are few and noisy: those of all tasks together steady its choice.
    steadied = (errors + errors.mean(2, keepdims=True)).reshape(-1, len(tasks))
    ridge, share = np.unravel_index(steadied.argmin(0), errors.shape[:2])
    return _Choice(
        onset, ease, shift, features,
        constant=np.array(_SHARES)[share] * smallest,
        ridge=ridges[ridge],
        errors=errors[ridge, share, tasks],
    )  # fmt: skip


def _log_above(Y: np.ndarray, constant: np.ndarray) -> np.ndarray:
    smallest = _SMALLEST_LOSS * np.maximum(np.median(Y, axis=0), 1e-12)
    return np.log(np.maximum(Y - constant, smallest))


def _leave_one_out(
    features: np.ndarray, targets: np.ndarray, ridges: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """Mean squared error of ridge regressions about runs left out: (ridges, targets).

    In closed form. Runs of a group have the same features, and are left out together.
    """
    runs = len(features)
    left, squared_sizes = _left_singular(features - features.mean(0))
    centred = targets - targets.mean(0)
    projected, squares = left.T @ centred, left**2
    members = csr_array((np.ones(runs), (group, np.arange(runs))))
    sizes = np.bincount(group)[group]
    errors = []
    for ridge in ridges:
        kept = squared_sizes / (squared_sizes + ridge)
        leverage = squares @ kept + 1 / runs
        residuals = centred - left @ (kept[:, None] * projected)
        pull = leverage / np.maximum(1 - sizes * leverage, 1e-6)
        residuals += pull[:, None] * (members.T @ (members @ residuals))
        errors.append((residuals**2).mean(0))
    return np.array(errors)


def _left_singular(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and squared singular values, those that are 0 left out.

    From the smaller of the two Gram matrices: several times faster than a decomposition of the
    features, and exact to far below the smallest ridge.
    """
    wide = features.shape[0] <= features.shape[1]
    squares, vectors = np.linalg.eigh(features @ features.T if wide else features.T @ features)
    kept = squares > 1e-13 * squares[-1]
    squares, vectors = squares[kept], vectors[:, kept]
    return (vectors if wide else features @ vectors / np.sqrt(squares)), squares
