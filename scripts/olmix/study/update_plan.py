"""What is run on one sequence of updates: groups of chains through its stages (§5.1).

Chains that a figure needs together form a group, and their runs at a stage form one swarm. What
chains draw at a stage without depending on p̃ they draw from one pool.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from olmix.study.chain import NATURAL, Chain
from olmix.study.scale import Scale
from olmix.study.space import stage_domains
from olmix.study.stage_prints import domain_prints, lineage_prints
from olmix.study.systems import System
from olmix.systems.kinds.rounds import Rounds
from olmix.updates.sequence import UpdateSequence
from olmix.updates.strategies import Strategy

__all__ = ["Group", "UpdatePlan", "pool_contents"]


@dataclass
class Group:
    """Chains that are compared with each other, and with the natural mix where that is asked for.

    ``curve`` names those whose target runs are also scored along training.
    """

    name: str
    chains: list[Chain] = field(default_factory=list)
    natural: bool = False
    curve: tuple[str, ...] = ()

    @property
    def mixes(self) -> tuple[str, ...]:
        """The names of the mixes that the group's targets are trained on."""
        return (*([NATURAL] if self.natural else []), *(chain.name for chain in self.chains))

    @property
    def target(self) -> str:
        """The name of the swarm of target runs on the group's last mixes."""
        return f"{self.name}-target"

    def at(self, stage: str) -> str:
        """The name of a chain's work at a stage: the swarm of its own runs there, and its mixes."""
        return f"{self.name}-{stage}"

    def probe(self, stage: str) -> str:
        """The swarm that is run at a stage before it is chosen what to recompute."""
        return f"{self.name}-{stage}-probe"

    def round(self, stage: str, number: int) -> str:
        """The swarm of a round at a stage that a system answers in rounds."""
        return f"{self.name}-{stage}-round{number}"


@dataclass(frozen=True)
class UpdatePlan:
    """Groups of chains on a sequence of updates, and how many runs each needs at each stage.

    Parameters
    ----------
    file, sequence
        The updates file, and what it says.
    name
        A single update's name; empty for the scale's own sequence.
    pools
        Stage -> the swarm that is its pool, which sequences with the same domains share.
    system
        What answers every stage where that is an algorithm; None for a method of seven choices. It
        draws nothing from pools.
    """

    file: str
    sequence: UpdateSequence
    scale: Scale
    name: str = ""
    groups: dict[str, Group] = field(default_factory=dict)
    pools: dict[str, str] = field(default_factory=dict)
    system: System | None = None

    def follow(
        self,
        group: str,
        chains: Iterable[Chain],
        *,
        natural: bool = False,
        curve: Iterable[str] = (),
    ) -> Group:
        """Add chains to a group, each once, in the order they are asked for.

        Those that a system cannot answer are left out: it has no law, and no swarm of others.
        """
        found = self.groups.setdefault(group, Group(group))
        offered = [chain for chain in chains if self.offers(chain)]
        found.chains += [chain for chain in offered if chain not in found.chains]
        found.natural |= natural
        found.curve = tuple(dict.fromkeys((*found.curve, *curve)))
        return found

    def offers(self, chain: Chain) -> bool:
        """Whether the sequence's method can answer a chain's stages."""
        return self.system is None or (chain.follows.for_systems and not chain.law)

    @cached_property
    def stages(self) -> list[str]:
        """The initial stage and one per update, in order."""
        return [stage.name for stage in self.sequence.stages()]

    @property
    def updates(self) -> list[str]:
        """The stages that an update leads to."""
        return self.stages[1:]

    @property
    def last(self) -> str:
        """The stage after the last update."""
        return self.stages[-1]

    def previous(self, stage: str) -> str:
        """The stage before a stage."""
        return self.stages[self.stages.index(stage) - 1]

    @cached_property
    def _budget(self) -> Callable[[Strategy, float], dict[str, int]]:
        """Runs by stage of a strategy and c, each worked out once: every seed asks again."""
        return cache(lambda strategy, c: strategy.budget(self.sequence, c))

    def budget(self, chain: Chain, stage: str) -> int:
        """All runs a chain pays for at a stage: what the planner says, or a system's rounds."""
        if self.system is not None:
            return sum(self.round_sizes(chain, stage))
        return self._budget(chain.follows, chain.c)[stage]

    def runs(self, chain: Chain, stage: str) -> int:
        """Runs of a chain's own at a stage, the probe's left out; see `draws` for the others."""
        if self.system is not None:
            return self.budget(chain, stage) if self._has_mix(chain, stage) else 0
        if not chain.follows.samples(stage):
            return 0
        return self.budget(chain, stage) - self.probe_runs(chain, stage)

    def round_sizes(self, chain: Chain, stage: str) -> list[int]:
        """How many runs each round of a system has at most for a chain at a stage.

        Those of the weights to recompute, by c/3; the first is large enough for any law.
        """
        if self.system is None or self.system.kind is not Rounds:
            return []
        (weights,) = (
            entry.domains_recomputed
            for entry in chain.follows.plan(self.sequence, chain.c)
            if entry.stage == stage
        )
        if weights < 2:
            return []
        sizes = self.system.round_sizes(weights, self.scale["methods"]["most_rounds"])
        first, *later = (max(1, round(size * chain.c / 3)) for size in sizes)
        return [max(first, weights + 1), *later]

    @cached_property
    def _probe(self) -> Callable[[Strategy, str, float], int]:
        """Probe runs by stage of a strategy and c, each worked out once: every seed asks again."""
        return cache(lambda strategy, stage, c: strategy.probe_runs(self.sequence, stage, c))

    def probe_runs(self, chain: Chain, stage: str) -> int:
        """Runs that a chain needs at a stage before it chooses what to recompute."""
        if self.system is not None:
            return 0
        return self._probe(chain.follows, stage, chain.c)

    def draws(self, chain: Chain, stage: str) -> bool:
        """Whether a chain draws its runs of a stage from the stage's pool."""
        return self.system is None and chain.follows.draws(stage, last=stage == self.last)

    def active(self, group: str, stage: str) -> list[Chain]:
        """The chains of a group that have a mix at a stage."""
        return [chain for chain in self.groups[group].chains if self._has_mix(chain, stage)]

    def _has_mix(self, chain: Chain, stage: str) -> bool:
        return stage == self.last or not chain.follows.from_scratch

    def total_runs(self, chain: Chain) -> int:
        """Proxy runs over all stages: the x axis of the main figure."""
        return sum(self.budget(chain, stage) for stage in self.stages)

    def new_runs(self, chain: Chain) -> int:
        """Proxy runs that are trained for a chain alone, those it draws from pools left out."""
        return sum(self.runs(chain, stage) + self.probe_runs(chain, stage) for stage in self.stages)

    def pool_size(self, stage: str) -> int:
        """Runs of the pool of a stage, from which seeds, multipliers and both R draw theirs."""
        drawn = [
            self.budget(chain, stage)
            for group in self.groups.values()
            for chain in group.chains
            if self.draws(chain, stage)
        ]
        return round(self.scale.pool_swarms * max(drawn)) if drawn else 0

    @cached_property
    def domain_prints(self) -> dict[str, str]:
        """A fingerprint of the domains of each stage, by the stage's name."""
        return domain_prints(self.sequence)

    @cached_property
    def lineage_prints(self) -> dict[str, str]:
        """A fingerprint of each stage with all before it, by the stage's name."""
        return lineage_prints(self.sequence)

    def costs(self, group: str) -> list[tuple[dict[str, Any], int]]:
        """(chain, proxy runs over all stages) of every chain of a group, as plain values."""
        chains = self.groups[group].chains
        return [(chain.to_dict(), self.total_runs(chain)) for chain in chains]


def pool_contents(sequence: UpdateSequence, stage: str) -> tuple[Any, ...]:
    """What makes two pools the same: the domains they are over, and their prior."""
    return stage_domains(sequence, stage), tuple(sequence.prior(stage).weights.round(12))
