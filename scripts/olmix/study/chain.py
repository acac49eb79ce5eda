"""A chain: one strategy followed from the initial stage to the last (§5.1).

Each stage's mix is the next one's p̃. A chain has one swarm multiplier c, one requested size R and
one seed, and its name is in every table and file that is about it.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from olmix.updates.strategies import Strategy, strategy_of

__all__ = ["NATURAL", "Chain", "chains"]

#: The mix that every chain is compared with, in the same tables.
NATURAL = "natural"


@dataclass(frozen=True)
class Chain:
    """A strategy, by its name, with the numbers it is followed with."""

    strategy: str
    c: int
    requested: str
    seed: int

    @property
    def name(self) -> str:
        """The name of the chain in tables and files."""
        return f"{self.strategy}-c{self.c}-{self.requested}-seed{self.seed}"

    @property
    def follows(self) -> Strategy:
        """The strategy that the chain follows."""
        return strategy_of(self.strategy)

    def run_name(self, stage: str, seed: int, number: int) -> str:
        """The name of a run that is trained for this chain."""
        return f"{self.name}-{stage}-{seed}-{number:04d}"

    def owns(self, run: str) -> bool:
        """Whether a run was trained for this chain, by its name."""
        return run.startswith(f"{self.name}-")

    @property
    def kind(self) -> str:
        """The name that all seeds of the chain share in summaries where R is the same for all."""
        return f"{self.strategy}-c{self.c}"

    @property
    def kind_and_request(self) -> str:
        """The name that all seeds of the chain share in summaries where R differs."""
        return f"{self.kind}-{self.requested}"

    def to_dict(self) -> dict[str, Any]:
        """The chain as plain values, for job parameters and tables."""
        return asdict(self)


def chains(
    strategies: Iterable[Strategy], multipliers: Iterable[int], requested: str, seeds: Iterable[int]
) -> list[Chain]:
    """A chain of every strategy with every c and every seed, in this order."""
    multipliers, seeds = list(multipliers), list(seeds)
    return [
        Chain(strategy.name, c, requested, seed)
        for strategy in strategies
        for c in multipliers
        for seed in seeds
    ]
