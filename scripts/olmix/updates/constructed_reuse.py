"""Mixture reuse of ratios made on purpose: weak, intermediate and optimal ones (§5.2).

To vary the reuse gap, p̃_fix is constructed from full recomputation's own model over D', and reused:
q*(p̃_fix) is solved on the same model inside the collapsed space. No runs are needed, and what
differs from full recomputation is p̃_fix alone, not a second swarm and its noise. The optimal ratios
q*_fix give back q* itself without a KL term, and a mix near it with one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.worst import propose_worst
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import Surrogate
from olmix.updates.collapse import Collapse

__all__ = ["collapsed_model", "reuse_on_model", "weak_ratios"]

# Less weight than this on D_fix says nothing about its ratios.
_NOTHING = 1e-6


def weak_ratios(surrogate: Surrogate, request: Request, fixed: Sequence[str]) -> Mix:
    """Ratios on D_fix of the mix over D' with the highest predicted BPB under the caps.

    Where that mix leaves D_fix no weight, the worst mix over D_fix alone.
    """
    plain = replace(request, kl=0.0)
    worst = propose_worst(surrogate, plain).mix
    if sum(worst[name] for name in fixed) < _NOTHING:
        rows = [request.domains.index(name) for name in fixed]
        alone = replace(plain, prior=plain.prior.restricted(fixed), tokens=plain.tokens[rows])
        columns = np.eye(len(request.domains))[rows]
        worst = propose_worst(_on_columns(surrogate, tuple(fixed), columns), alone).mix
    return worst.restricted(fixed)


def collapsed_model(surrogate: Surrogate, collapse: Collapse) -> Surrogate:
    """A log-linear model over D' as the one over the collapsed domains that agrees with it."""
    return _on_columns(surrogate, collapse.names, collapse.expansion)


def _on_columns(surrogate: Surrogate, names: tuple[str, ...], expansion: np.ndarray) -> Surrogate:
    """The model of r where the given one sees r·E: its coefficients are A·Eᵀ."""
    model = surrogate.regressor
    if not isinstance(model, LogLinear):
        raise OlmixError(f"only a log-linear model can be collapsed, got '{model.family}'")
    record = model.to_dict()
    record["domains"] = len(names)
    record["learned"]["coef_"] = (model.coef_ @ expansion.T).tolist()
    return replace(surrogate, domains=names, regressor=LogLinear.from_dict(record))


def reuse_on_model(surrogate: Surrogate, collapse: Collapse, request: Request) -> Proposal:
    """q*(p̃_fix): the best mix on a model over D' that keeps the collapse's frozen ratios."""
    from olmix.proposers.exact import propose_exact  # CVXPY: slow to import, and needed here alone

    proposal = propose_exact(collapsed_model(surrogate, collapse), request)
    return collapse.expand_proposal(proposal, request)
