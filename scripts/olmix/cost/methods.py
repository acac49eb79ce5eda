"""What a mixing method costs, counted the same way for all: what it trains besides the target."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from olmix.cost.compute import Machine, RunCost
from olmix.study.scale import Scale

__all__ = ["MethodCost", "Spent", "method_cost"]


class Spent(NamedTuple):
    """Runs of a model; ``passes`` is what a step costs in steps of plain training."""

    model: str
    runs: float
    passes: float = 1.0


@dataclass(frozen=True)
class MethodCost:
    """Runs, tokens, their compute in runs of the scale's proxy, and device hours."""

    runs: int
    tokens: float
    proxy_runs: float
    device_hours: float


def method_cost(spent: Iterable[Spent], scale: Scale) -> MethodCost:
    """The cost of what was trained, at a scale."""
    spent, machine = list(spent), Machine.from_dict(scale["hardware"])
    models = {part.model for part in spent} | {scale.proxy}
    costs = {name: RunCost(name, scale.model(name), machine) for name in models}
    proxy = costs[scale.proxy].flops
    return MethodCost(
        runs=sum(int(part.runs) for part in spent),
        tokens=sum(part.runs * costs[part.model].size.tokens for part in spent),
        proxy_runs=sum(p.runs * p.passes * costs[p.model].flops for p in spent) / proxy,
        device_hours=sum(
            p.runs * p.passes * costs[p.model].hours(0) * costs[p.model].devices for p in spent
        ),
    )
