"""Full recomputation: every weight from a new swarm over all domains, at every update (§4.1)."""

from typing import Any

from olmix.updates.sequence import Stage, UpdateSequence
from olmix.updates.strategies.base import ChainAtStage, Strategy

__all__ = ["FullRecomputation"]


class FullRecomputation(Strategy):
    """The costly baseline: a swarm over all domains at every stage, and nothing is reused."""

    name = "full_recomputation"
    label = "full recomputation"
    short = "full"
    colour = "#000000"
    marker = "o"
    from_scratch = True
    for_systems = True

    def recomputed(self, sequence: UpdateSequence, stage: Stage) -> int:
        """How many weights are recomputed: those of all domains."""
        return len(stage.domains)

    def propose(self, at: ChainAtStage) -> Any:
        """The method's answer to a swarm drawn from the stage's pool."""
        return at.recompute(at.drawn(at.stage))
