"""Mixture reuse and swarm reuse: recompute in a collapsed space, or carry old runs (§4.2-4.4)."""

from dataclasses import replace

import numpy as np

from olmix.collapse import Collapse
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.method import OLMIX_BASE, Method
from olmix.mix import Mix
from olmix.proposers.best_run import propose_best_run
from olmix.proposers.proposal import Proposal, Request
from olmix.tables import SwarmTable
from olmix.updates import Operator

__all__ = ["Collapse", "carry_swarm", "propose_with_reuse", "recompute"]


def recompute(
    swarm: SwarmTable, request: Request, method: Method = OLMIX_BASE, *, seed: int = 0
) -> Proposal:
    """A method applied to a finished swarm; over two domains, the best run.

    With two domains the space is one-dimensional and the paper takes the best run instead of a
    regression (App. D.2).
    """
    if len(swarm.domains) == 2:
        return propose_best_run(swarm, request)
    return method.propose(method.fit(swarm), swarm, request, seed=seed)


def propose_with_reuse(
    swarm: SwarmTable | None,
    collapse: Collapse,
    request: Request,
    method: Method = OLMIX_BASE,
    *,
    seed: int = 0,
) -> Proposal:
    """Full or partial mixture reuse (Algorithm 2): recompute in the collapsed space and expand.

    ``swarm`` is over the collapsed domains; None where nothing has to be run, because the update
    left one virtual domain alone (a removal): the frozen ratios are then the answer.
    """
    if collapse.split.dimension == 0:
        solo = Proposal.from_weights(np.ones(1), request, status="reused", solver={"name": "none"})
        return collapse.expand_proposal(solo, request)
    if swarm is None:
        raise OlmixError(
            f"reuse: {collapse.split.dimension} weights to recompute, but no swarm was given"
        )
    return collapse.expand_proposal(recompute(swarm, request, method, seed=seed), request)


def carry_swarm(swarm: SwarmTable, update: Operator, before: DomainSet) -> SwarmTable:
    """The runs of a swarm on D that can be represented on D', with their mixes there.

    Added domains get 0, a partitioned domain's weight is split naturally, and runs with weight on
    a removed or revised domain are left out (Algorithm Swarm Reuse Mixing, line 4).
    """
    names = update.apply(before).names
    carried = [update.represent(Mix(swarm.domains, mix), before) for mix in swarm.mixes]
    kept = [row for row, mix in enumerate(carried) if mix is not None]
    lost = len(swarm) - len(kept)
    mixes = [carried[row].aligned(names).weights for row in kept]
    return replace(
        swarm.rows(kept),
        domains=names,
        mixes=np.array(mixes).reshape(len(kept), len(names)),
        notes=(*swarm.notes, f"{lost} runs not reusable after the update") if lost else swarm.notes,
    )
