"""Best of the swarm: the run with the lowest measured average BPB that meets the caps (RQ4).

Sparse mixes rarely meet tight caps (one of the authors' 127 released DCLM runs does at R = 6T), so
where none does, the best run is cut to them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.proposal import CUT, Proposal, Request, within_caps
from olmix.regressors.surrogate import Surrogate
from olmix.tables import SwarmTable

__all__ = ["propose_best_run", "solve"]

# Mixes read from rounded tables may exceed a cap by rounding alone.
_SLACK = 1e-9


def propose_best_run(swarm: SwarmTable, request: Request, *, maximise: bool = False) -> Proposal:
    """The measured best (or worst) feasible run; also the answer over two domains (App. D.2)."""
    if request.domains != swarm.domains:
        raise OlmixError(
            f"proposal over {len(request.domains)} domains, but the swarm is over "
            f"{len(swarm.domains)} others or in another order"
        )
    mixes, status = swarm.mixes, "measured"
    feasible = (mixes <= request.caps + _SLACK).all(1)
    if not feasible.any():
        mixes, status = within_caps(mixes, request.caps), f"measured, {CUT}"
        feasible = np.ones(len(swarm), dtype=bool)
    average = swarm.average
    chosen = int(np.where(feasible, -average if maximise else average, np.inf).argmin())
    return Proposal.from_weights(
        mixes[chosen],
        request,
        status=status,
        objective=average[chosen],
        predicted=dict(zip(swarm.tasks, swarm.metrics[chosen].tolist(), strict=True)),
        average=average[chosen],
        solver={"name": "best_run", "run": swarm.runs[chosen], "maximise": maximise},
    )


def solve(
    surrogate: Surrogate,
    swarm: SwarmTable,
    request: Request,
    *,
    seed: int,
    settings: Mapping[str, Any],
) -> Proposal:
    """The solver ``best_run``: needs the measured runs alone."""
    return propose_best_run(swarm, request)
