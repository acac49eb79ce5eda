"""When reuse is safe: coupling κ, the gaps, and the bounds of both theorems (§4.3, App. C).

The paper derives it for a log-linear model f_i(q) = c_i + exp(A_iᵀq) over the updated domains,
split into the reused D_fix and the recomputed D_comp. Of another convex law it is that of the
log-linear law that touches it at the optimum (`olmix.regressors.terms.tangent`) and is nowhere
above it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.regressors.base import Regressor
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.terms import above_constants, tangent

__all__ = [
    "GapReport",
    "coupling",
    "coupling_reductions",
    "gap_report",
    "performance_gap_bound",
    "reuse_gap",
    "reuse_gap_bound",
    "strong_convexity",
]

# A weight on D_fix that is no more than what a solver leaves of 0.
_NO_WEIGHT = 1e-9


def _norms(coefficients: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """α: for each task, the norm of its coefficients on some domains."""
    return np.linalg.norm(coefficients[:, columns], axis=1)


def coupling(coefficients: np.ndarray, fixed: np.ndarray) -> float:
    """κ(D_fix, D_comp) = ‖(1 + α_fix + α_comp) ⊙ α_fix‖ (App. C.1).

    ``coefficients`` is A (tasks, domains); ``fixed`` is a mask or index of D_fix, D_comp is the
    rest. Large when reused and recomputed domains move the same tasks.
    """
    mask = _mask(coefficients, fixed)
    alpha_fix, alpha_comp = _norms(coefficients, mask), _norms(coefficients, ~mask)
    return float(np.linalg.norm((1 + alpha_fix + alpha_comp) * alpha_fix))


def coupling_reductions(coefficients: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """By how much κ drops when domain j is recomputed too; NaN for domains not in D_fix."""
    mask = _mask(coefficients, fixed)
    before = coupling(coefficients, mask)
    drops = np.full(coefficients.shape[1], np.nan)
    for j in np.flatnonzero(mask):
        without = mask.copy()
        without[j] = False
        drops[j] = before - coupling(coefficients, without)
    return drops


def _mask(coefficients: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    mask = np.zeros(coefficients.shape[1], dtype=bool)
    mask[np.asarray(fixed)] = True
    return mask


def reuse_gap(reused: Mix, optimal: Mix, fixed: Sequence[str]) -> float:
    """‖p̃_fix − q*_fix‖: how far the reused ratios are from the optimal ones on D_fix."""
    return float(
        np.linalg.norm(reused.restricted(fixed).weights - optimal.restricted(fixed).weights)
    )


def strong_convexity(directions: np.ndarray) -> float:
    """μ of (1/n)Σ_i exp(a_iᵀr) over the simplex, along directions that stay on it.

    Its Hessian (1/n)Σ exp(a_iᵀr)·a_i·a_iᵀ is smallest where every exp(a_iᵀr) is, which on the
    simplex is at least exp(min_j a_ij). 0 when the tasks do not span the simplex.
    """
    tasks, size = directions.shape
    if size < 2:
        return np.inf
    lowest = np.exp(directions.min(1))
    hessian = (directions * lowest[:, None]).T @ directions / tasks
    # An orthonormal basis of {v : Σv = 0}.
    basis = np.linalg.svd(np.ones((1, size)))[2][1:].T
    curvatures = np.linalg.eigvalsh(basis.T @ hessian @ basis)
    # What rounding leaves of a flat direction is not curvature.
    flat = size * np.finfo(float).eps * curvatures[-1]
    return float(curvatures[0]) if curvatures[0] > flat else 0.0


def performance_gap_bound(
    model: Regressor, fixed: np.ndarray, reused: np.ndarray, optimum: np.ndarray, reuse: np.ndarray
) -> float:
    """Theorem 1 (formal): the bound on F(q*(p̃_fix)) − F(q*); infinite where μ is 0.

    ``reused`` are the ratios p̃_fix over D_fix, ``optimum`` is q*, ``reuse`` is q*(p̃_fix), both
    over D'.
    """
    A = tangent(model.terms(), optimum)
    mask = _mask(A, fixed)
    delta = np.linalg.norm(reused - optimum[mask] / optimum[mask].sum())
    alpha_fix, alpha_comp = _norms(A, mask), _norms(A, ~mask)
    collapsed = np.column_stack([A[:, mask] @ reused, A[:, ~mask]])
    mu = strong_convexity(collapsed)
    if mu == 0:
        return np.inf
    growth = _reduced(model, optimum) * np.exp(alpha_fix.max() * delta)
    stability = _reduced(model, reuse) / mu * np.linalg.norm(alpha_fix + alpha_comp)
    return float(growth * (stability * coupling(A, mask) + np.linalg.norm(alpha_fix)) * delta)


def reuse_gap_bound(model: Regressor, fixed: np.ndarray, optimum: np.ndarray) -> float:
    """Theorem 2 (formal), for an Add update from an optimal p̃: the bound on ‖p̃_fix − q*_fix‖."""
    A = tangent(model.terms(), optimum)
    mask = _mask(A, fixed)
    moved = 1.0 - optimum[mask].sum()
    mu = strong_convexity(A[:, mask])
    if mu == 0:
        return np.inf
    steepest = (_norms(A, mask) + _norms(A, ~mask)).max()
    growth = 2 * _reduced(model, optimum) * np.exp(steepest * moved) / mu
    return float(growth * coupling(A, mask) * moved)


def _reduced(model: Regressor, mix: np.ndarray) -> float:
    """F̄: the average prediction without the constants c_i."""
    return float(above_constants(model.terms(), mix).mean())


@dataclass(frozen=True)
class GapReport:
    """Every quantity of Theorems 1 and 2 for one update and one reuse split."""

    coupling: float
    reuse_gap: float
    performance_gap: float
    rho: float  # ρ*, the weight the optimum leaves on D_fix
    performance_gap_bound: float
    reuse_gap_bound: float


def gap_report(
    surrogate: Surrogate, fixed: Sequence[str], existing: Mix, optimum: Mix, reuse: Mix
) -> GapReport:
    """Measure both theorems' terms on a fitted model of F over D' (§5.2).

    ``existing`` is p̃, ``optimum`` is q* (full recomputation), ``reuse`` is q*(p̃_fix). Where the
    optimum leaves D_fix no weight, q*_fix is undefined: the reuse gap and the performance bound,
    which is in terms of it, are NaN.
    """
    model = surrogate.regressor
    if not model.terms():
        raise OlmixError(f"theory needs a law that log-linear ones touch, got '{model.family}'")
    for name in fixed:
        if name not in surrogate.domains:
            raise OlmixError(f"theory: '{name}' is not a domain of the fitted model")
    mask = np.array([name in set(fixed) for name in surrogate.domains])
    ordered = [name for name in surrogate.domains if name in set(fixed)]
    best = optimum.aligned(surrogate.domains).weights
    found = reuse.aligned(surrogate.domains).weights
    ratios = existing.restricted(ordered).weights
    gain = surrogate.average(found[None])[0] - surrogate.average(best[None])[0]
    rho, gap, bound = float(best[mask].sum()), np.nan, np.nan
    if rho > _NO_WEIGHT:
        gap = reuse_gap(existing, optimum, ordered)
        bound = performance_gap_bound(model, mask, ratios, best, found)
    return GapReport(
        coupling=coupling(tangent(model.terms(), best), mask),
        reuse_gap=gap,
        performance_gap=float(gain),
        rho=rho,
        performance_gap_bound=bound,
        reuse_gap_bound=reuse_gap_bound(model, mask, best),
    )
