"""Reuse of ratios constructed from full recomputation's model: weak, intermediate, optimal (§5.2).

They cost what full recomputation costs, whose model they are solved on, and no run more.
"""

from abc import abstractmethod
from typing import Any

from olmix.mix import Mix
from olmix.updates.strategies.base import ChainAtStage
from olmix.updates.strategies.full_recomputation import FullRecomputation

__all__ = ["ConstructedReuse", "IntermediateReuse", "OptimalReuse", "WeakReuse"]


class ConstructedReuse(FullRecomputation):
    """Full reuse of ratios that are made on purpose, so that the reuse gap is known."""

    for_systems = False

    @staticmethod
    @abstractmethod
    def ratios(weak: Mix, best: Mix) -> Mix:
        """The ratios to reuse, of the worst and the best ones on the unaffected domains."""

    def propose(self, at: ChainAtStage) -> Any:
        """The best mix on full recomputation's model that keeps the ratios."""
        return at.reuse_on_model(at.drawn(at.stage), self.ratios)


class WeakReuse(ConstructedReuse):
    """The ratios of the mix with the highest predicted BPB."""

    name = "weak_reuse"
    label = "weak ratios"
    short = "weak"
    marker = "v"

    @staticmethod
    def ratios(weak: Mix, best: Mix) -> Mix:
        """The ratios that are reused: the weak ones, as they are."""
        return weak


class IntermediateReuse(ConstructedReuse):
    """The average of the weak ratios and the optimal ones."""

    name = "intermediate_reuse"
    label = "intermediate ratios"
    short = "intermediate"
    marker = "s"

    @staticmethod
    def ratios(weak: Mix, best: Mix) -> Mix:
        """The ratios halfway between the weak and the optimal ones."""
        return Mix(weak.names, (weak.weights + best.aligned(weak.names).weights) / 2)


class OptimalReuse(ConstructedReuse):
    """The ratios of full recomputation's own mix."""

    name = "optimal_reuse"
    label = "optimal ratios"
    short = "optimal"
    marker = "o"

    @staticmethod
    def ratios(weak: Mix, best: Mix) -> Mix:
        """The ratios that are reused: the optimal ones, as they are."""
        return best
