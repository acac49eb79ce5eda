"""How many proxy runs a swarm takes, and how many are missing where old ones are kept (§5.1)."""

import math
from dataclasses import dataclass

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.sequence import Stage

__all__ = ["RunBatch", "StagePlan", "additional_runs", "plan_swarm_reuse", "swarm_size"]


@dataclass(frozen=True)
class StagePlan:
    """What one stage costs: the weights to recompute, and the proxy runs to train for them."""

    stage: str
    domains_recomputed: int
    runs: int


@dataclass(frozen=True)
class RunBatch:
    """``count`` runs alike in which domains they put weight on, as one of their mixes shows."""

    mix: Mix
    count: int


def swarm_size(m: int, c: float) -> int:
    """K ≈ c(m+1) proxy runs for m recomputed domains, as the paper rounds it.

    c = 1 is m+1, as many runs as a log-linear model has coefficients. c = 3 is the power of two
    nearest to 3(m+1), the smaller on a tie; c = 2 is half of that. A larger c is not rounded. The
    paper has whole c only: any other is between its neighbours' sizes, rounded up. Fewer than two
    domains leave nothing to weigh, so they need no runs.
    """
    if isinstance(c, bool) or not isinstance(c, int | float) or not 0 < c < math.inf:
        raise OlmixError(f"swarm size: multiplier c is {c!r}, expected a number above 0")
    if not isinstance(m, int) or m < 0:
        raise OlmixError(f"swarm size: {m!r} domains, expected a whole number of at least 0")
    if m < 2:
        return 0
    below = math.floor(c)
    smaller, larger = _whole_size(m, below), _whole_size(m, below + 1)
    return math.ceil(smaller + (c - below) * (larger - smaller))


def _whole_size(m: int, c: int) -> int:
    if c not in (2, 3):
        return c * (m + 1)
    nearest = _nearest_power_of_two(3 * (m + 1))
    return nearest if c == 3 else nearest // 2


def _nearest_power_of_two(number: int) -> int:
    below = 1 << (number.bit_length() - 1)
    above = 2 * below
    return below if number - below <= above - number else above


def additional_runs(domains: tuple[str, ...], reusable: list[RunBatch], c: float) -> int:
    """New runs that swarm reuse needs on top of the ``reusable`` ones.

    Enough to fill the swarm of K ≈ c(m+1), and at least one for each domain that no reusable run
    puts weight on.
    """
    missing = swarm_size(len(domains), c) - sum(batch.count for batch in reusable)
    supported = {name for batch in reusable for name in batch.mix.support}
    return max(missing, sum(name not in supported for name in domains), 0)


def plan_swarm_reuse(stages: list[Stage], c: float) -> list[StagePlan]:
    """Carry each stage's runs forward as long as they can be represented on the new domains.

    New runs are taken to put weight on every domain of their stage: they are all lost once one of
    these domains is revised or removed.
    """
    plans: list[StagePlan] = []
    batches: list[RunBatch] = []
    before = stages[0].domains
    for stage in stages:
        if stage.update is not None:
            carried = [(stage.update.represent(b.mix, before), b.count) for b in batches]
            batches = [RunBatch(mix, count) for mix, count in carried if mix is not None]
        runs = additional_runs(stage.domains.names, batches, c)
        plans.append(StagePlan(stage.name, len(stage.domains), runs))
        batches.append(RunBatch(stage.domains.natural(), runs))
        before = stage.domains
    return plans
