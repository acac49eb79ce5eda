"""Mixture reuse: keep the ratios that an update leaves alone, recompute the rest (§4.2, §4.3)."""

from typing import Any

from olmix.updates.operators import ReuseSplit
from olmix.updates.sequence import Stage, UpdateSequence
from olmix.updates.strategies.base import ChainAtStage, Strategy

__all__ = ["FullMixtureReuse", "MixtureReuse", "PartialMixtureReuse"]


class MixtureReuse(Strategy):
    """What full, partial and auto partial reuse have in common: Algorithm 2 on their split."""

    for_systems = True

    def propose(self, at: ChainAtStage) -> Any:
        """The method's answer in the collapsed space, expanded."""
        return at.reuse(self.split(at))


class FullMixtureReuse(MixtureReuse):
    """Full mixture reuse: all unaffected domains keep their ratios (§4.2)."""

    name = "full_mixture_reuse"
    label = "full mixture reuse"
    short = "full reuse"
    colour = "#56B4E9"
    marker = "^"

    def recomputed(self, sequence: UpdateSequence, stage: Stage) -> int:
        """How many weights: of the affected domains, and of one virtual domain for the others."""
        return sequence.full_reuse(stage.name).dimension

    def split(self, at: ChainAtStage) -> ReuseSplit:
        """All unaffected domains frozen together, the affected ones recomputed."""
        return at.sequence.full_reuse(at.stage)


class PartialMixtureReuse(MixtureReuse):
    """Some unaffected domains are recomputed too: those the updates file names (§4.3)."""

    name = "partial_mixture_reuse"
    label = "partial mixture reuse"
    short = "partial reuse"
    colour = "#0072B2"
    marker = "D"

    def recomputed(self, sequence: UpdateSequence, stage: Stage) -> int:
        """How many weights: of the affected domains, of those named, and of each frozen group."""
        return sequence.partial_reuse(stage.name).dimension

    def split(self, at: ChainAtStage) -> ReuseSplit:
        """The split that the updates file says for the stage."""
        return at.sequence.partial_reuse(at.stage)
