"""The proposer of RegMix and CLIMB: rank one large sample of mixes, take the best or their mean."""

from collections.abc import Mapping

import numpy as np

from olmix.proposers.proposal import Proposal, Request, kl_divergence, within_caps
from olmix.regressors.surrogate import Surrogate
from olmix.swarm.tempered import tempered_dirichlet
from olmix.tables import SwarmTable

__all__ = ["propose_simulated", "solve"]

_BLOCK = 20_000


def propose_simulated(
    surrogate: Surrogate,
    request: Request,
    *,
    seed: int,
    candidates: int = 100_000,
    kept: int = 100,
) -> Proposal:
    """The mean of the best ``kept`` of ``candidates`` mixes drawn around the prior."""
    drawn = tempered_dirichlet(request.prior.weights, candidates, seed=seed)
    mixes = within_caps(drawn, request.caps)
    blocks = np.array_split(mixes, -(-len(mixes) // _BLOCK))
    scores = np.concatenate([surrogate.average(block) for block in blocks])
    if request.kl > 0:
        scores = scores + request.kl * kl_divergence(mixes, request.prior.weights)
    best = np.argsort(scores, kind="stable")[:kept]
    weights = within_caps(mixes[best].mean(0), request.caps)[0]
    predicted = surrogate.predict(weights[None])[0]
    average = float(predicted @ surrogate.weights)
    penalty = request.kl and request.kl * float(kl_divergence(weights, request.prior.weights))
    return Proposal.from_weights(
        weights,
        request,
        status="simulated",
        objective=average + penalty,
        predicted=dict(zip(surrogate.outputs, predicted.tolist(), strict=True)),
        average=average,
        solver={
            "name": "simulated",
            "family": surrogate.regressor.family,
            "seed": seed,
            "candidates": candidates,
            "kept": kept,
        },
    )


def solve(
    surrogate: Surrogate,
    swarm: SwarmTable,
    request: Request,
    *,
    seed: int,
    settings: Mapping[str, int],
) -> Proposal:
    """The solver ``simulated``: needs the model alone, takes candidates and kept as settings."""
    known = {key: settings[key] for key in ("candidates", "kept") if key in settings}
    return propose_simulated(surrogate, request, seed=seed, **known)
