"""Many small robust least-squares problems solved side by side.

A swarm gives one nonlinear regression per task (times starts, times bootstrap replicates), each
with a few dozen unknowns. Solved one by one they cost minutes; as one batch of damped
Gauss-Newton steps in numpy they cost about a second.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

__all__ = ["Curve", "Normal", "Problem", "Solution", "huber", "minimise", "normal_equations"]

# Damping of the Gauss-Newton step: start, how it shrinks and grows, and where a problem gives up.
_DAMPING, _SHRINK, _GROW, _GIVE_UP = 1e-2, 0.3, 6.0, 1e8
# Numbers that the Jacobians of one batch may hold: 0.4 GB, of which a step needs three times.
_JACOBIAN_VALUES = 50_000_000


#: From parameters (B, P) to predictions (B, K) and their Jacobian (B, K, P), or whatever array
#: (B, ...) `Normal` makes the same equations of.
Curve = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
#: From that array J, row weights w and residuals r (B, K): JᵀWJ (B, P, P) and JᵀWr (B, P).
Normal = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def normal_equations(
    jacobian: np.ndarray, weights: np.ndarray, residuals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The Gauss-Newton equations of each problem, from its whole Jacobian."""
    weighted = jacobian if (weights == 1).all() else jacobian * weights[:, :, None]
    turned = weighted.transpose(0, 2, 1)
    return turned @ jacobian, (turned @ residuals[:, :, None])[:, :, 0]


@dataclass(frozen=True)
class Problem:
    """A batch of B problems: minimise Σ_k w_k·huber(f(θ)_k − y_k) + (θ−θ₀)ᵀQ(θ−θ₀), l ≤ θ ≤ u."""

    curve: Curve
    targets: np.ndarray  # (B, K)
    lower: np.ndarray  # (B, P)
    upper: np.ndarray  # (B, P)
    penalty: np.ndarray  # Q, (P, P), shared by the batch
    delta: float = np.inf  # Huber threshold; infinite is plain least squares
    weights: np.ndarray | None = None  # (B, K) row weights, for the bootstrap
    centre: np.ndarray | None = None  # θ₀, (B, P); zero when absent
    normal: Normal = normal_equations  # cheaper ones where the Jacobian has a structure

    def part(self, rows: slice) -> "Problem":
        """Some of the problems, as a batch of their own."""
        return replace(
            self,
            targets=self.targets[rows],
            lower=self.lower[rows],
            upper=self.upper[rows],
            weights=None if self.weights is None else self.weights[rows],
            centre=None if self.centre is None else self.centre[rows],
        )


@dataclass(frozen=True)
class Solution:
    """Where the batch ended: parameters (B, P), objective (B,) and convergence (B,)."""

    theta: np.ndarray
    loss: np.ndarray
    converged: np.ndarray


def huber(residuals: np.ndarray, delta: float) -> np.ndarray:
    """Quadratic within ``delta``, linear beyond: the loss of Data Mixing Laws' fit."""
    size = np.abs(residuals)
    if np.isinf(delta):
        return 0.5 * size**2
    return np.where(size <= delta, 0.5 * size**2, delta * (size - 0.5 * delta))


def minimise(
    problem: Problem, start: np.ndarray, *, max_iterations: int = 200, tolerance: float = 1e-7
) -> Solution:
    """Levenberg-Marquardt with Huber weights and box constraints, on many problems at once.

    A problem leaves the batch after three accepted steps in a row that gain less than
    ``tolerance`` of its loss, or when no damping makes it improve. Batches whose Jacobians would
    need much memory are solved in parts.
    """
    each = max(1, _JACOBIAN_VALUES // (problem.targets.shape[1] * start.shape[1]))
    parts = [
        _minimise(problem.part(rows), start[rows], max_iterations, tolerance)
        for rows in (slice(first, first + each) for first in range(0, len(start), each))
    ]
    return Solution(
        np.concatenate([part.theta for part in parts]),
        np.concatenate([part.loss for part in parts]),
        np.concatenate([part.converged for part in parts]),
    )


def _minimise(
    problem: Problem, start: np.ndarray, max_iterations: int, tolerance: float
) -> Solution:
    theta = np.clip(start, problem.lower, problem.upper)
    count = len(theta)
    weights = np.ones_like(problem.targets) if problem.weights is None else problem.weights
    centre = np.zeros_like(theta) if problem.centre is None else problem.centre
    damping = np.full(count, _DAMPING)
    calm = np.zeros(count, dtype=int)
    active = np.arange(count)

    def objective(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        predicted, jacobian = problem.curve(values)
        residuals = predicted - problem.targets[rows]
        away = values - centre[rows]
        loss = (weights[rows] * huber(residuals, problem.delta)).sum(1)
        return loss + ((away @ problem.penalty) * away).sum(1), residuals, jacobian

    loss, residuals, jacobian = objective(theta, active)
    final_loss = loss.copy()
    for _ in range(max_iterations):
        step = _step(problem, theta[active], residuals, jacobian, weights[active], centre[active],
                     damping[active], problem.lower[active], problem.upper[active])  # fmt: skip
        trial = np.clip(theta[active] + step, problem.lower[active], problem.upper[active])
        trial_loss, trial_residuals, trial_jacobian = objective(trial, active)
        better = trial_loss < loss
        gain = (loss - trial_loss) / np.maximum(loss, 1e-300)

        theta[active[better]] = trial[better]
        final_loss[active[better]] = trial_loss[better]
        loss = np.where(better, trial_loss, loss)
        residuals = np.where(better[:, None], trial_residuals, residuals)
        if better.all():  # without a copy of what is most of the memory
            jacobian = trial_jacobian
        else:
            jacobian[better] = trial_jacobian[better]
        damping[active] = np.where(
            better, np.maximum(damping[active] * _SHRINK, 1e-12), damping[active] * _GROW
        )
        calm[active] = np.where(
            better, np.where(gain < tolerance, calm[active] + 1, 0), calm[active]
        )

        stay = (calm[active] < 3) & (damping[active] < _GIVE_UP)
        if not stay.any():
            active = active[stay]
            break
        if not stay.all():
            active, loss, residuals, jacobian = (
                active[stay],
                loss[stay],
                residuals[stay],
                jacobian[stay],
            )
    converged = np.ones(count, dtype=bool)
    converged[active] = False
    return Solution(theta, final_loss, converged)


def _step(
    problem: Problem,
    theta: np.ndarray,
    residuals: np.ndarray,
    jacobian: np.ndarray,
    weights: np.ndarray,
    centre: np.ndarray,
    damping: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> np.ndarray:
    """The damped Gauss-Newton step of each problem, with parameters held at an active bound."""
    if np.isfinite(problem.delta):
        weights = weights * np.minimum(1.0, problem.delta / np.maximum(np.abs(residuals), 1e-300))
    hessian, gradient = problem.normal(jacobian, weights, residuals)
    hessian += 2 * problem.penalty
    gradient += 2 * (theta - centre) @ problem.penalty

    held = ((theta <= lower) & (gradient > 0)) | ((theta >= upper) & (gradient < 0))
    some = np.flatnonzero(held.any(1))
    free = (~held[some]).astype(float)
    hessian[some] *= free[:, :, None] * free[:, None, :]
    gradient[held] = 0.0
    diagonal = np.arange(theta.shape[1])
    scale = hessian[:, diagonal, diagonal]
    hessian[:, diagonal, diagonal] = scale + damping[:, None] * (scale + 1e-8) + 1e-10 + held
    return -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
