"""Fit a form to runs: ridge regression of the logarithm of each task's loss above a constant.

The constant and the ridge of a task are chosen by leave-one-out errors, which ridge regression
gives without refitting.
"""

from dataclasses import dataclass

import numpy as np

from olmix.measured.form import LawForm

__all__ = ["Choice", "Fitted", "choose", "fit"]

# What leave-one-out chooses from: c as a share of a task's smallest loss, and the ridge per run.
_SHARES = (0.0, 0.5, 0.7, 0.85, 0.95)
_RIDGES = np.logspace(-7, 1, 17)
# Losses above c are at least this share of the task's median, so that they have a logarithm.
_SMALLEST_LOSS = 1e-3


@dataclass(frozen=True)
class Choice:
    """The constant and the ridge (per run) of each task that suit a form best."""

    constants: np.ndarray  # (tasks,)
    ridges: np.ndarray  # (tasks,)


@dataclass(frozen=True)
class Fitted:
    """c_i + exp(a_i + features·w_i): what a fit learned."""

    form: LawForm
    constants: np.ndarray  # c, (tasks,)
    intercepts: np.ndarray  # a, (tasks,)
    coefficients: np.ndarray  # w, (features, tasks)

    def predict(self, mixes: np.ndarray) -> np.ndarray:
        """The BPB of every task: (mixes, tasks)."""
        exponent = self.form.features(mixes) @ self.coefficients + self.intercepts
        return self.constants + np.exp(exponent)


def choose(form: LawForm, mixes: np.ndarray, metrics: np.ndarray) -> Choice:
    """The constants and ridges with the smallest leave-one-out errors.

    A task's own errors are few and noisy, so those of all tasks together steady its choice.
    """
    smallest, tasks = metrics.min(0), np.arange(metrics.shape[1])
    logs = np.hstack([_log_above(metrics, share * smallest) for share in _SHARES])
    ridges = len(mixes) * _RIDGES
    errors = _leave_one_out(form.features(mixes), logs, ridges)
    errors = errors.reshape(len(ridges), len(_SHARES), len(tasks))
    # An error of the logarithm times the loss above c is one in BPB.
    above = np.stack([(metrics - share * smallest).mean(0) for share in _SHARES])
    errors = errors * above**2 / metrics.var(0)
    steadied = (errors + errors.mean(2, keepdims=True)).reshape(-1, len(tasks))
    ridge, share = np.unravel_index(steadied.argmin(0), errors.shape[:2])
    return Choice(np.array(_SHARES)[share] * smallest, _RIDGES[ridge])


def fit(
    form: LawForm,
    mixes: np.ndarray,
    metrics: np.ndarray,
    choice: Choice | None = None,
    counts: np.ndarray | None = None,
) -> Fitted:
    """The law of a form on runs, each counted so often (once each if None)."""
    choice = choose(form, mixes, metrics) if choice is None else choice
    counts = np.ones(len(mixes)) if counts is None else np.asarray(counts, dtype=float)
    features, logs = form.features(mixes), _log_above(metrics, choice.constants)
    shares = counts / counts.sum()
    middle, level = shares @ features, shares @ logs
    root = np.sqrt(counts)[:, None]
    left, sizes, right = np.linalg.svd(root * (features - middle), full_matrices=False)
    projected = left.T @ (root * (logs - level))
    shrunk = sizes[:, None] / (sizes[:, None] ** 2 + counts.sum() * choice.ridges)
    coefficients = right.T @ (shrunk * projected)
    return Fitted(form, choice.constants, level - middle @ coefficients, coefficients)


def _log_above(metrics: np.ndarray, constants: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(metrics - constants, _SMALLEST_LOSS * np.median(metrics, axis=0)))


def _leave_one_out(features: np.ndarray, targets: np.ndarray, ridges: np.ndarray) -> np.ndarray:
    """Mean squared leave-one-out errors of ridge regressions: (ridges, targets)."""
    left, sizes, _ = np.linalg.svd(features - features.mean(0), full_matrices=False)
    centred = targets - targets.mean(0)
    projected, squares = left.T @ centred, left**2
    errors = []
    for ridge in ridges:
        kept = sizes**2 / (sizes**2 + ridge)
        leverage = squares @ kept + 1 / len(features)
        residuals = centred - left @ (kept[:, None] * projected)
        errors.append(((residuals / np.maximum(1 - leverage, 1e-6)[:, None]) ** 2).mean(0))
    return np.array(errors)
