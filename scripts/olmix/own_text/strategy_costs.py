"""What each strategy would train for the last update of one's own text, and how long that takes."""

from collections.abc import Sequence

from olmix.cost.compute import Machine, RunCost
from olmix.own_text.sizing import MOST_TARGETS
from olmix.study.scale import Scale
from olmix.updates.operators import partial_reuse
from olmix.updates.planning import swarm_size
from olmix.updates.sequence import UpdateSequence
from olmix.updates.strategies import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
)

__all__ = ["OFFERED", "cost_lines"]

# What can be run; runs of an old swarm are not scored on new tasks, which swarm reuse would need.
OFFERED = (FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE, FULL_RECOMPUTATION)


def cost_lines(sequence: UpdateSequence, scale: Scale, recompute: Sequence[str]) -> list[str]:
    """A line per strategy: proxies, weights and minutes; then the target runs, the same for all."""
    machine = Machine.from_dict(scale["hardware"])
    proxy, target = (RunCost(name, scale.model(name), machine) for name in (scale.proxy, "target"))
    c = scale["mix"]["multiplier"]
    lines = [f"proxies that each strategy would train, with minutes on {_devices(machine)}:"]
    for strategy in (FULL_RECOMPUTATION, SWARM_REUSE, FULL_MIXTURE_REUSE):
        planned = strategy.plan(sequence, c)[-1]
        note = "" if strategy in OFFERED else " (not offered here)"
        needed = _needed(planned.runs, planned.domains_recomputed, proxy)
        lines.append(f"  {strategy.label}: {needed}{note}")
    weights, which = _partial(sequence, recompute)
    if weights:
        needed = _needed(swarm_size(weights, c), weights, proxy)
        lines.append(f"  {PARTIAL_MIXTURE_REUSE.label}: {needed} ({which})")
    targets = MOST_TARGETS * scale["target_repeats"]
    lines.append(
        f"and {targets} target runs to check the mix, {_minutes(targets, target)}, whichever it is"
    )
    return lines


def _partial(sequence: UpdateSequence, recompute: Sequence[str]) -> tuple[int, str]:
    """The weights that partial reuse recomputes with some domains, or else with one besides."""
    *_, before, after = (stage.domains for stage in sequence.stages())
    unaffected = sequence.full_reuse(sequence.stages()[-1].name).groups.values()
    named = list(recompute) or [name for group in unaffected for name in group][:1]
    if not named:
        return 0, ""
    which = ", ".join(recompute) or "with one domain that did not change, by --recompute DOMAIN"
    return partial_reuse(before, after, recompute=named).dimension, which


def _needed(runs: int, weights: int, run: RunCost) -> str:
    return f"{runs} for {weights} weights, {_minutes(runs, run)}" if runs else "none"


def _minutes(runs: int, run: RunCost) -> str:
    minutes = 60 * runs * run.hours() * run.devices / run.machine.devices
    return f"about {minutes:.0f} min" if minutes >= 1 else "less than 1 min"


def _devices(machine: Machine) -> str:
    return f"{machine.devices} {machine.unit}{'s' if machine.devices > 1 else ''}"
