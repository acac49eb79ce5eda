"""How many proxy runs an update needs under each strategy (§5.1, tables of appendix D.2)."""

from dataclasses import dataclass

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.update_sequence import Stage, UpdateSequence

__all__ = ["STRATEGIES", "RunBatch", "StagePlan", "additional_runs", "plan", "swarm_size"]

FULL_RECOMPUTATION = "full_recomputation"
SWARM_REUSE = "swarm_reuse"
FULL_MIXTURE_REUSE = "full_mixture_reuse"
PARTIAL_MIXTURE_REUSE = "partial_mixture_reuse"
STRATEGIES = (FULL_RECOMPUTATION, SWARM_REUSE, FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE)


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


def swarm_size(m: int, c: int) -> int:
    """K ≈ c(m+1) proxy runs for m recomputed domains, as the paper rounds it.

    c = 1 is m+1, as many runs as a log-linear model has coefficients. c = 3 is the power of two
    nearest to 3(m+1), the smaller on a tie; c = 2 is half of that. A larger c is not rounded.
    Fewer than two
    domains leave nothing to weigh, so they need no runs.
    """
    if not isinstance(c, int) or c < 1:
        raise OlmixError(
            f"swarm size: multiplier c is {c!r}, expected a whole number of at least 1"
        )
    if not isinstance(m, int) or m < 0:
        raise OlmixError(f"swarm size: {m!r} domains, expected a whole number of at least 0")
    if m < 2:
        return 0
    if c == 1 or c > 3:
        return c * (m + 1)
    nearest = _nearest_power_of_two(3 * (m + 1))
    return nearest if c == 3 else nearest // 2


def _nearest_power_of_two(number: int) -> int:
    below = 1 << (number.bit_length() - 1)
    above = 2 * below
    return below if number - below <= above - number else above


def additional_runs(domains: tuple[str, ...], reusable: list[RunBatch], c: int) -> int:
    """New runs that swarm reuse needs on top of the ``reusable`` ones.

    Enough to fill the swarm of K ≈ c(m+1), and at least one for each domain that no reusable run
    puts weight on.
    """
    missing = swarm_size(len(domains), c) - sum(batch.count for batch in reusable)
    supported = {name for batch in reusable for name in batch.mix.support}
    return max(missing, sum(name not in supported for name in domains), 0)


def plan(sequence: UpdateSequence, strategy: str, c: int) -> list[StagePlan]:
    """The cost of every stage of a sequence of updates under one strategy."""
    if strategy == SWARM_REUSE:
        return _plan_swarm_reuse(sequence.stages(), c)
    plans = []
    for stage in sequence.stages():
        if stage.update is None or strategy == FULL_RECOMPUTATION:
            recomputed = len(stage.domains)
        elif strategy == FULL_MIXTURE_REUSE:
            recomputed = sequence.full_reuse(stage.name).dimension
        elif strategy == PARTIAL_MIXTURE_REUSE:
            recomputed = sequence.partial_reuse(stage.name).dimension
        else:
            raise OlmixError(
                f"plan: unknown strategy '{strategy}', expected one of {', '.join(STRATEGIES)}"
            )
        plans.append(StagePlan(stage.name, recomputed, swarm_size(recomputed, c)))
    return plans


def _plan_swarm_reuse(stages: list[Stage], c: int) -> list[StagePlan]:
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
