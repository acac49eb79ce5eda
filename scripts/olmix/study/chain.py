"""A chain: one strategy followed from the initial stage to the last (§5.1).

Each stage's mix is the next one's p̃. A chain has one swarm multiplier c, one requested size R, one
seed and one law, and its name is in every table and file that is about it.
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
    """A strategy, by its name, with what it is followed with.

    ``law`` is the regression family that its swarms are fitted with; empty for the method's own.
    """

    strategy: str
    c: float
    requested: str
    seed: int
    law: str = ""

    @property
    def name(self) -> str:
        """The name of the chain in tables and files; no chain's is the beginning of another's."""
        law = f"{self.law}-" if self.law else ""
        return f"{law}{self.strategy}-c{self.c:g}-{self.requested}-seed{self.seed}"

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
        return f"{self.strategy}-c{self.c:g}"

    @property
    def kind_and_request(self) -> str:
        """The name that all seeds of the chain share in summaries where R differs."""
        return f"{self.kind}-{self.requested}"

    def to_dict(self) -> dict[str, Any]:
        """The chain as plain values, for job parameters and tables."""
        return asdict(self)


def chains(
    strategies: Iterable[Strategy],
    multipliers: Iterable[float],
    requested: str,
    seeds: Iterable[int],
    laws: Iterable[str] = ("",),
) -> list[Chain]:
    """A chain of every law and strategy with every c and every seed, in this order."""
    strategies, multipliers, seeds = list(strategies), list(multipliers), list(seeds)
    return [
        Chain(strategy.name, c, requested, seed, law)
        for law in laws
        for strategy in strategies
        for c in multipliers
        for seed in seeds
    ]
