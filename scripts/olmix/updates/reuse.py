"""Mixture reuse and swarm reuse: recompute in a collapsed space, or carry old runs (§4.2-4.4)."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.best_run import propose_best_run
from olmix.proposers.method import Method
from olmix.proposers.proposal import CUT, Proposal, Request, within_caps
from olmix.tables import SwarmTable
from olmix.updates.collapse import Collapse
from olmix.updates.operators import Operator

__all__ = ["carry_swarm", "collapse_swarm", "keep_ratios", "propose_with_reuse", "recompute"]

# A swarm trained on expanded mixes may have their ratios rounded; beyond this it is another swarm.
_RATIO_TOLERANCE = 5e-3


def recompute(
    swarm: SwarmTable,
    request: Request,
    method: Method,
    *,
    seed: int = 0,
    families: Mapping[str, list[str]] | None = None,
) -> Proposal:
    """A method applied to a finished swarm; over two domains, the best run.

    With two domains the space is one-dimensional and the paper takes the best run instead of a
    regression (App. D.2).
    """
    if len(swarm.domains) == 2:
        return propose_best_run(swarm, request)
    return method.propose(method.fit(swarm, families), swarm, request, seed=seed)


def keep_ratios(
    collapse: Collapse, *, repetition: float = np.inf, requested: float | None = None
) -> Proposal:
    """The answer where one virtual domain is all there is (a removal): the frozen ratios.

    A removal raises every weight that is left, so a domain that was at its cap is now above it:
    it is cut to the cap, and the others share what is cut by their ratios.
    """
    request = Request.for_domains(
        collapse.domains, kl=0.0, repetition=repetition, requested=requested
    )
    frozen = collapse.expand(Mix(collapse.names, np.ones(1))).weights
    weights = within_caps(frozen, request.caps)[0]
    same = np.allclose(weights, frozen, rtol=0, atol=1e-9)
    status = "reused" if same else f"reused, {CUT}"
    kept = Proposal.from_weights(weights, request, status=status, solver={"name": "none"})
    return replace(kept, made_from=collapse.record())


def propose_with_reuse(
    swarm: SwarmTable | None,
    collapse: Collapse,
    request: Request,
    method: Method,
    *,
    seed: int = 0,
    families: Mapping[str, list[str]] | None = None,
) -> Proposal:
    """Full or partial mixture reuse (Algorithm 2): recompute in the collapsed space and expand.

    ``swarm`` is over the collapsed domains; None where nothing has to be run, because the update
    left one virtual domain alone (a removal): the frozen ratios are then the answer. ``families``
    are the task families, for a method that fits one model per family.
    """
    if collapse.split.dimension == 0:
        return keep_ratios(collapse, repetition=request.repetition, requested=request.requested)
    if swarm is None:
        raise OlmixError(
            f"reuse: {collapse.split.dimension} weights to recompute, but no swarm was given"
        )
    proposal = recompute(swarm, request, method, seed=seed, families=families)
    return collapse.expand_proposal(proposal, request)


def collapse_swarm(swarm: SwarmTable, collapse: Collapse) -> SwarmTable:
    """A swarm over the collapsed domains, from one over them or over the expanded mixes."""
    if set(swarm.domains) == set(collapse.names):
        columns = [swarm.domains.index(name) for name in collapse.names]
        return replace(swarm, domains=collapse.names, mixes=swarm.mixes[:, columns])
    if set(swarm.domains) != set(collapse.domains.names):
        odd = sorted(set(swarm.domains) - set(collapse.domains.names) - set(collapse.names))
        raise OlmixError(
            f"ratios: the swarm's {len(swarm.domains)} domains are neither the updated ones nor "
            f"{', '.join(collapse.names[:3])}, ..." + (f" (unknown: '{odd[0]}')" if odd else "")
        )
    columns = [swarm.domains.index(name) for name in collapse.domains.names]
    mixes = swarm.mixes[:, columns]
    collapsed = mixes @ collapse.membership.T
    distance = np.abs(collapsed @ collapse.expansion - mixes).max(1)
    if (distance > _RATIO_TOLERANCE).any():
        worst = int(distance.argmax())
        raise OlmixError(
            f"ratios: run '{swarm.runs[worst]}' does not keep the frozen ratios of the existing "
            f"mix (a weight is off by {distance[worst]:.3g})"
        )
    return replace(swarm, domains=collapse.names, mixes=collapsed)


def carry_swarm(swarm: SwarmTable, update: Operator, before: DomainSet) -> SwarmTable:
    """The runs of a swarm on D that can be represented on D', with their mixes there.

    Added domains get 0, a partitioned domain's weight is split naturally, and runs with weight on
    a removed or revised domain are left out (Algorithm Swarm Reuse Mixing, line 4).
    """
    names = update.apply(before).names
    represented = [update.represent(Mix(swarm.domains, mix), before) for mix in swarm.mixes]
    carried = {row: mix for row, mix in enumerate(represented) if mix is not None}
    kept, lost = list(carried), len(swarm) - len(carried)
    mixes = [mix.aligned(names).weights for mix in carried.values()]
    return replace(
        swarm.rows(kept),
        domains=names,
        mixes=np.array(mixes).reshape(len(kept), len(names)),
        notes=(*swarm.notes, f"{lost} runs not reusable after the update") if lost else swarm.notes,
    )
