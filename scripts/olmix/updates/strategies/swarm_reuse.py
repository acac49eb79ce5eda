"""Swarm reuse: old runs are kept where they can be represented on the new domains (§4.4)."""

from typing import Any

from olmix.updates.planning import StagePlan, plan_swarm_reuse
from olmix.updates.sequence import Stage, UpdateSequence
from olmix.updates.strategies.base import ChainAtStage, Strategy

__all__ = ["SwarmReuse"]


class SwarmReuse(Strategy):
    """Runs accumulate over the stages, and every stage fills them up to a whole swarm."""

    name = "swarm_reuse"
    label = "swarm reuse"
    short = "swarm reuse"
    colour = "#E69F00"
    marker = "s"

    def plan(self, sequence: UpdateSequence, c: float) -> list[StagePlan]:
        """The runs missing at each stage beside those that can still be represented."""
        return plan_swarm_reuse(sequence.stages(), c)

    def recomputed(self, sequence: UpdateSequence, stage: Stage) -> int:
        """How many weights are recomputed: those of all domains."""
        return len(stage.domains)

    def draws(self, stage: str, *, last: bool) -> bool:
        """Swarm reuse draws at every stage: its new runs do not depend on p̃."""
        return True

    def samples(self, stage: str) -> bool:
        """Swarm reuse never samples runs of its own: all are drawn from pools."""
        return False

    def propose(self, at: ChainAtStage) -> Any:
        """The method's answer to all runs so far."""
        return at.recompute(at.accumulated())
