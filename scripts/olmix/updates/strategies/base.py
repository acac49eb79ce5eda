"""What a strategy is: how it is drawn, what it costs, what it freezes, and how it proposes (§5.1).

A strategy is planned long before anything is measured, so this package imports nothing heavy. What
a proposal takes (fits, solvers, swarm tables) is behind the verbs of `ChainAtStage`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.operators import ReuseSplit
from olmix.updates.planning import StagePlan, swarm_size
from olmix.updates.sequence import INITIAL, Stage, UpdateSequence

__all__ = ["ChainAtStage", "Strategy"]


class ChainAtStage(Protocol):
    """A chain at one stage of a sequence, as a strategy sees it: what it knows and what it can do.

    Swarms and proposals are those of `olmix.tables` and `olmix.proposers.proposal`.
    """

    @property
    def sequence(self) -> UpdateSequence:
        """The updates that the chain goes through."""

    @property
    def stage(self) -> str:
        """The name of the stage."""

    @property
    def choice(self) -> ReuseSplit | None:
        """What was chosen to be recomputed at this stage, where a probe was run for it."""

    def drawn(self, stage: str) -> Any:
        """The runs that the chain draws from the pool of a stage."""

    def accumulated(self) -> Any:
        """All runs of the chain so far that can be represented on the stage's domains."""

    def recompute(self, swarm: Any) -> Any:
        """The proposal of the mixing method on a swarm over the stage's domains."""

    def reuse(self, split: ReuseSplit) -> Any:
        """The proposal that keeps the frozen ratios of p̃ and recomputes the rest (Algorithm 2)."""

    def reuse_on_model(self, swarm: Any, ratios: Callable[[Mix, Mix], Mix]) -> Any:
        """The proposal that keeps ratios made of the weak and the optimal ones (§5.2)."""


class Strategy(ABC):
    """One way to go through updates. A new one is a class in this package and its entry there."""

    #: What it is called in files and tables.
    name: ClassVar[str]
    #: How it is written and drawn in every figure.
    label: ClassVar[str]
    #: The same where room is short.
    short: ClassVar[str]
    colour: ClassVar[str]
    marker: ClassVar[str]
    #: Whether its last mix depends on no stage before: it then has a mix at the last stage only.
    from_scratch: ClassVar[bool] = False
    #: Whether it is the paper's; a scale may leave ours out.
    paper: ClassVar[bool] = True
    #: Whether all it asks at a stage is a mixing problem, so that a system without a swarm of
    #: OlmixBase's kind can answer it.
    for_systems: ClassVar[bool] = False

    def plan(self, sequence: UpdateSequence, c: float) -> list[StagePlan]:
        """What every stage costs: weights to recompute, and about c(m+1) runs for them."""
        plans = []
        for stage in sequence.stages():
            first = stage.update is None
            count = len(stage.domains) if first else self.recomputed(sequence, stage)
            plans.append(StagePlan(stage.name, count, swarm_size(count, c)))
        return plans

    @abstractmethod
    def recomputed(self, sequence: UpdateSequence, stage: Stage) -> int:
        """How many weights the strategy recomputes after an update."""

    def budget(self, sequence: UpdateSequence, c: float) -> dict[str, int]:
        """The proxy runs that the strategy pays for at each stage."""
        return {entry.stage: entry.runs for entry in self.plan(sequence, c)}

    def draws(self, stage: str, *, last: bool) -> bool:
        """Whether the strategy's runs of a stage are drawn from the pool that all chains share.

        All are at the initial stage. One that starts from scratch draws at the last stage too: its
        mix there does not depend on the stages between.
        """
        return stage == INITIAL or (last and self.from_scratch)

    def samples(self, stage: str) -> bool:
        """Whether the strategy trains runs of its own at a stage, on mixes that depend on p̃."""
        return stage != INITIAL and not self.from_scratch

    def probe_runs(self, sequence: UpdateSequence, stage: str, c: float) -> int:
        """Runs that the strategy needs at a stage before it can choose what to recompute."""
        return 0

    def split(self, at: ChainAtStage) -> ReuseSplit:
        """What the strategy freezes and what it recomputes at a stage."""
        raise OlmixError(f"strategy '{self.name}' collapses nothing")

    @abstractmethod
    def propose(self, at: ChainAtStage) -> Any:
        """The mix that the strategy proposes at a stage that an update leads to."""
