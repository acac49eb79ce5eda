"""How the proposal depends on λ, the weight of the KL term (RQ7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from olmix.proposers.proposal import Proposal, Request
from olmix.regressors.surrogate import Surrogate

__all__ = ["DEFAULT_WEIGHTS", "SweepPoint", "kl_sweep"]

DEFAULT_WEIGHTS = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class SweepPoint:
    """The proposal at one λ, and how far it is from the prior."""

    kl: float
    proposal: Proposal
    distance: float  # total variation from the prior


def kl_sweep(
    surrogate: Surrogate,
    request: Request,
    propose: Callable[[Surrogate, Request], Proposal],
    weights: Sequence[float] = DEFAULT_WEIGHTS,
) -> list[SweepPoint]:
    """Propose again for each λ; all else as requested."""
    points = []
    for kl in weights:
        proposal = propose(surrogate, replace(request, kl=float(kl)))
        points.append(SweepPoint(float(kl), proposal, proposal.mix.total_variation(request.prior)))
    return points
