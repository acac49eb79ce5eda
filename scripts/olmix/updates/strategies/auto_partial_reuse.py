"""Auto partial reuse: what to recompute besides is chosen by κ, within partial reuse's budget.

Ours: the paper leaves the choice to the practitioner (§6). See `olmix.updates.auto_reuse`.
"""

from olmix.updates.operators import ReuseSplit, split_domains
from olmix.updates.planning import StagePlan, swarm_size
from olmix.updates.sequence import INITIAL, UpdateSequence
from olmix.updates.strategies.base import ChainAtStage
from olmix.updates.strategies.mixture_reuse import PartialMixtureReuse

__all__ = ["AutoPartialReuse"]


class AutoPartialReuse(PartialMixtureReuse):
    """Partial reuse whose recomputed domains a probe swarm decides."""

    name = "auto_partial_reuse"
    label = "auto partial reuse"
    short = "auto reuse"
    colour = "#D55E00"
    marker = "*"
    paper = False
    for_systems = False

    def plan(self, sequence: UpdateSequence, c: float) -> list[StagePlan]:
        """What partial reuse costs; nothing where an update affects no domain that is left."""
        plans = super().plan(sequence, c)
        return [
            entry
            if entry.stage == INITIAL or _affected(sequence, entry.stage)
            else StagePlan(entry.stage, 0, 0)
            for entry in plans
        ]

    def probe_runs(self, sequence: UpdateSequence, stage: str, c: float) -> int:
        """m+1 runs over the virtual domain and the affected ones, fewer where c is below 1."""
        affected = 0 if stage == INITIAL else _affected(sequence, stage)
        return swarm_size(1 + affected, min(c, 1)) if affected else 0

    def split(self, at: ChainAtStage) -> ReuseSplit:
        """The split that was chosen; full reuse's where nothing had to be chosen."""
        return at.choice or at.sequence.full_reuse(at.stage)


def _affected(sequence: UpdateSequence, stage: str) -> int:
    """How many domains of a stage its update affected."""
    stages = sequence.stages()
    place = [entry.name for entry in stages].index(stage)
    return len(split_domains(stages[place - 1].domains, stages[place].domains).resulting)
