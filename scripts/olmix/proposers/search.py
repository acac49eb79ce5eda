"""Adaptive Dirichlet search: for any regressor, with or without caps (RQ7; App. RQ7).

Rounds of candidates around a prior; the candidates near the best of a round are averaged, and the
next round is drawn, more tightly, around the mean of that and the last prior.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.proposal import Proposal, Request, kl_divergence, within_caps
from olmix.regressors.surrogate import Surrogate
from olmix.tables import SwarmTable

__all__ = ["propose_search", "solve"]

# Candidates this close to the round's best BPB are averaged into the next prior.
_NEAR = 1e-3
_BLOCK = 20_000


def propose_search(
    surrogate: Surrogate,
    request: Request,
    *,
    seed: int,
    rounds: int = 10,
    candidates: int = 20_000,
    maximise: bool = False,
) -> Proposal:
    """The best candidate of all rounds under the caps.

    ``maximise`` looks for the mix with the highest predicted BPB: the weak prior of RQ3 and the
    weak mix of §5.2, which no convex solver can find. The KL term, if any, still holds it back.
    """
    if request.domains != surrogate.domains:
        raise OlmixError(
            f"proposal over {len(request.domains)} domains, but the model was fitted on "
            f"{len(surrogate.domains)} others or in another order"
        )
    rng = np.random.default_rng(seed)
    sign = -1.0 if maximise else 1.0
    centre = within_caps(request.prior.weights, request.caps)[0]
    best, best_score = centre, np.inf
    for number in range(rounds):
        # The concentration doubles every round, from a spread swarm to a close one.
        concentration = len(centre) * 2.0**number
        drawn = rng.dirichlet(np.maximum(centre * concentration, 1e-3), size=candidates)
        mixes = np.vstack([within_caps(drawn, request.caps), centre])
        average = np.concatenate(
            [surrogate.average(block) for block in np.array_split(mixes, -(-len(mixes) // _BLOCK))]
        )
        scores = sign * average
        if request.kl > 0:
            scores = scores + request.kl * kl_divergence(mixes, request.prior.weights)
        winner = int(scores.argmin())
        if scores[winner] < best_score:
            best, best_score = mixes[winner], scores[winner]
        near = mixes[scores <= scores[winner] + _NEAR].mean(0)
        centre = within_caps((near + centre) / 2, request.caps)[0]
    predicted = surrogate.predict(best[None])[0]
    return Proposal.from_weights(
        best,
        request,
        status="searched",
        objective=sign * best_score,
        predicted=dict(zip(surrogate.outputs, predicted.tolist(), strict=True)),
        average=float(predicted @ surrogate.weights),
        solver={
            "name": "search",
            "family": surrogate.regressor.family,
            "seed": seed,
            "rounds": rounds,
            "candidates": candidates,
            "maximise": maximise,
        },
    )


def solve(
    surrogate: Surrogate,
    swarm: SwarmTable,
    request: Request,
    *,
    seed: int,
    settings: Mapping[str, Any],
) -> Proposal:
    """The solver ``search``: needs the model alone, takes rounds and candidates as settings."""
    return propose_search(surrogate, request, seed=seed, **settings)
