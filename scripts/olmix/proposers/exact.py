"""The exact proposer: minimise f̂(p) + λ·KL(p‖p₀) under the caps, as a convex problem (RQ7)."""

import warnings
from collections.abc import Mapping
from typing import Any

import cvxpy as cp
import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.proposal import Proposal, Request, kl_divergence, within_caps
from olmix.regressors import FAMILIES
from olmix.regressors.autoscale import AutoScale
from olmix.regressors.bimix import BiMix
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.terms import Term
from olmix.tables import SwarmTable

__all__ = ["propose_exact", "solve"]

# Power-law terms that vary by less than this (in BPB) over the whole simplex are taken as
# constants: thousands of them move the optimum by 1e-8 at most, and each costs a cone.
_NEGLIGIBLE = 1e-12
# (scale of the objective, tolerance, longest step) tried in turn. Log-linear problems reach the
# first; sums of thousands of power-law cones may need another scale, or stall before the tightest
# tolerance. Equilibration is off throughout: with it most power-law problems fail.
_ATTEMPTS = (
    (1, 1e-10, 0.99),
    (10, 1e-10, 0.9),
    (100, 1e-10, 0.8),
    (100, 1e-8, 0.8),
    (1, 1e-8, 0.9),
    (100, 1e-6, 0.8),
)


def propose_exact(surrogate: Surrogate, request: Request) -> Proposal:
    """Solve the mixture optimisation of Algorithm 1, line 7, with CVXPY.

    Raises unless the solver reports an optimum; weights meet the caps to rounding error.
    """
    if request.domains != surrogate.domains:
        raise OlmixError(
            f"proposal over {len(request.domains)} domains, but the model was fitted on "
            f"{len(surrogate.domains)} others or in another order"
        )
    weights = cp.Variable(len(request.domains), nonneg=True)
    objective = _prediction(surrogate, weights)
    if request.kl > 0:
        objective += request.kl * cp.sum(cp.rel_entr(weights, request.prior.weights))
    constraints = [cp.sum(weights) == 1]
    bound = np.flatnonzero(request.caps < 1)
    if bound.size:
        constraints.append(weights[bound] <= request.caps[bound])
    status = _minimise(objective, constraints)
    solution = within_caps(np.asarray(weights.value), request.caps)[0]
    predicted = surrogate.predict(solution[None])[0]
    average = float(predicted @ surrogate.weights)
    # Without KL the prior may hold zeros, where the divergence is infinite.
    penalty = request.kl and request.kl * float(kl_divergence(solution, request.prior.weights))
    return Proposal.from_weights(
        solution,
        request,
        status=status,
        objective=average + penalty,
        predicted=dict(zip(surrogate.outputs, predicted.tolist(), strict=True)),
        average=average,
        solver={"name": "exact", "family": surrogate.regressor.family},
    )


def _minimise(objective: cp.Expression, constraints: list[cp.Constraint]) -> str:
    """Solve at the tightest tolerance reached and return the status; raise unless optimal."""
    failure = "no attempt"
    for scale, tolerance, step in _ATTEMPTS:
        problem = cp.Problem(cp.Minimize(scale * objective), constraints)
        try:
            with warnings.catch_warnings():
                # CVXPY warns of an inaccurate solution; the status says so too, and is checked.
                warnings.simplefilter("ignore", UserWarning)
                problem.solve(
                    solver=cp.CLARABEL,
                    equilibrate_enable=False,
                    tol_gap_abs=tolerance,
                    tol_gap_rel=tolerance,
                    tol_feas=tolerance,
                    max_step_fraction=step,
                )
        except cp.SolverError as error:
            failure = str(error).splitlines()[0]
            continue
        if problem.status == cp.OPTIMAL:
            return problem.status
        failure = f"status '{problem.status}'"
    raise OlmixError(f"exact proposer: the solver found no optimum ({failure})")


def _prediction(surrogate: Surrogate, weights: cp.Variable) -> cp.Expression:
    """f̂(p) as a convex expression, for the families that have one."""
    model, shares = surrogate.regressor, surrogate.weights
    if terms := [_term(term, shares, weights) for term in model.terms()]:
        return sum(terms[1:], terms[0])
    if isinstance(model, BiMix):
        scale = shares[:, None] * model.scale_
        return _sum_of_powers(scale, model.exponent_, weights + model.floor, model.floor)
    if isinstance(model, AutoScale):
        scale = shares[:, None] * model.tokens ** (-model.exponent_)
        total = shares @ model.constant_
        for j in range(model.n_domains_):
            # The shift A_ij differs by task, so each domain's column has its own base.
            base = model.share_[:, j] + weights[j]
            total += _sum_of_powers(scale[:, j], model.exponent_[:, j], base, model.share_[:, j])
        return total
    convex = [family.name for family in FAMILIES.values() if family.convex]
    raise OlmixError(
        f"the exact proposer needs a convex family ({', '.join(convex)}), "
        f"got '{model.family}': use the search proposer"
    )


def _term(term: Term, shares: np.ndarray, weights: cp.Variable) -> cp.Expression:
    """One member law's part of f̂(p): Σ_i share_i·w_i·(c_i + exp(a_i + A_i·p − B_i·log(1+p/s)))."""
    parts = shares * term.weight
    kept = parts > 0
    exponent = term.intercept[kept] + term.linear[kept] @ weights
    if term.curved is not None and term.shift is not None:
        used = term.curved[kept].max(0) > 0
        logs = cp.log(1 + cp.multiply(1 / term.shift[used], weights[np.flatnonzero(used)]))
        exponent = exponent - term.curved[kept][:, used] @ logs
    return parts @ term.constant + parts[kept] @ cp.exp(exponent)


def _sum_of_powers(
    scale: np.ndarray, exponent: np.ndarray, base: cp.Expression, smallest: float | np.ndarray
) -> cp.Expression:
    """Σ scale·base^(−exponent) as exp(log scale − exponent·log base), without negligible terms.

    ``smallest`` is the base at weight 0; at weight 1 the base is one more.
    """
    variation = scale * (smallest ** (-exponent) - (1 + smallest) ** (-exponent))
    kept = variation > _NEGLIGIBLE
    constant = float(scale[~kept].sum())
    rows = np.nonzero(kept)
    if not rows[0].size:
        return cp.Constant(constant)
    logs = cp.log(base)[rows[-1]]
    return constant + cp.sum(cp.exp(np.log(scale[rows]) - cp.multiply(exponent[rows], logs)))


def solve(
    surrogate: Surrogate,
    swarm: SwarmTable,
    request: Request,
    *,
    seed: int,
    settings: Mapping[str, Any],
) -> Proposal:
    """The solver ``exact``: needs the model alone, and nothing is left to chance or to settings."""
    return propose_exact(surrogate, request)
