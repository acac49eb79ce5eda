"""What the evolving-domain study runs: chains of strategies through the stages (§5.1).

A chain is one strategy with one swarm multiplier c, one requested size R and one seed, followed
from the initial stage to the last: each stage's mix is the next one's p̃. Chains that a figure
needs together form a group, and their runs at a stage form one swarm.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

from olmix.planning import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
    plan,
    swarm_size,
)
from olmix.study.scale import Scale
from olmix.study.space import stage_domains
from olmix.study.spec import MixesSpec, Plan, SpaceSpec, SwarmSpec
from olmix.update_sequence import INITIAL, UpdateSequence
from olmix.updates import split_domains

__all__ = [
    "AUTO",
    "CONSTRUCTED",
    "FROM_SCRATCH",
    "INTERMEDIATE_REUSE",
    "OPTIMAL_REUSE",
    "WEAK_REUSE",
    "Chain",
    "UpdatePlan",
]

# Partial reuse with the recomputed domains chosen by κ (olmix.auto_reuse); not in the paper.
AUTO = "auto_partial_reuse"
# Reuse of ratios constructed from full recomputation's model (olmix.constructed_reuse, §5.2).
CONSTRUCTED = ("weak_reuse", "intermediate_reuse", "optimal_reuse")
WEAK_REUSE, INTERMEDIATE_REUSE, OPTIMAL_REUSE = CONSTRUCTED
# What depends on no stage but the last: these draw a swarm from its pool.
FROM_SCRATCH = (FULL_RECOMPUTATION, *CONSTRUCTED)
REUSE = (SWARM_REUSE, FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE, AUTO)


@dataclass(frozen=True)
class Chain:
    """A strategy followed through all stages."""

    strategy: str
    c: int
    requested: str
    seed: int

    @property
    def name(self) -> str:
        """Its name in tables and files."""
        return f"{self.strategy}-c{self.c}-{self.requested}-seed{self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for job parameters."""
        return asdict(self)


@dataclass(frozen=True)
class UpdatePlan:
    """Groups of chains on a sequence of updates, and how many runs each needs at each stage."""

    sequence: UpdateSequence
    scale: Scale

    @property
    def stages(self) -> list[str]:
        """The initial stage and one per update, in order."""
        return [stage.name for stage in self.sequence.stages()]

    @property
    def updates(self) -> list[str]:
        """The stages that an update leads to."""
        return self.stages[1:]

    def previous(self, stage: str) -> str:
        """The stage before."""
        return self.stages[self.stages.index(stage) - 1]

    def groups(self) -> dict[str, list[Chain]]:
        """``main`` (relaxed R, c = 3), ``tight`` (R six times larger), ``low`` (c = 1, 2)."""
        seeds = list(self.scale.seeds())

        def chains(strategies: list[str], multipliers: list[int], requested: str) -> list[Chain]:
            return [
                Chain(strategy, c, requested, seed)
                for strategy in strategies
                for c in multipliers
                for seed in seeds
            ]

        every = [1, 2, 3]
        return {
            "main": chains([FULL_RECOMPUTATION], every, "relaxed")
            + chains(list(REUSE), [3], "relaxed"),
            # The paper leaves partial reuse out where R is tight: full reuse already does well.
            "tight": chains([FULL_RECOMPUTATION], every, "tight")
            + chains([SWARM_REUSE, FULL_MIXTURE_REUSE], [3], "tight"),
            "low": chains(
                [SWARM_REUSE, FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE], [1, 2], "relaxed"
            )
            + chains([SWARM_REUSE, FULL_MIXTURE_REUSE], [1, 2], "tight")
            + chains([AUTO], [1, 2], "relaxed"),
        }

    def runs(self, chain: Chain, stage: str) -> int:
        """Runs of a chain's own at a stage, the probe's left out.

        Chains whose mixes do not depend on p̃ draw theirs from the pool of the stage, see
        `pool_size`.
        """
        if stage == INITIAL or chain.strategy in (*FROM_SCRATCH, SWARM_REUSE):
            return 0
        return self.budget(chain, stage) - self.probe_runs(chain, stage)

    def budget(self, chain: Chain, stage: str) -> int:
        """All runs a chain pays for at a stage: what the planner says."""
        strategy = chain.strategy
        if strategy == AUTO:
            if stage != INITIAL and not self._affected(stage):
                return 0
            strategy = PARTIAL_MIXTURE_REUSE
        elif strategy in FROM_SCRATCH:
            strategy = FULL_RECOMPUTATION
        return self._planned(strategy, chain.c)[stage]

    @cached_property
    def _planned(self) -> Callable[[str, int], dict[str, int]]:
        """Runs by stage of a strategy and c, each worked out once: every seed asks again."""

        @cache
        def planned(strategy: str, c: int) -> dict[str, int]:
            return {entry.stage: entry.runs for entry in plan(self.sequence, strategy, c)}

        return planned

    def total_runs(self, chain: Chain) -> int:
        """Proxy runs over all stages: the x axis of the main figure."""
        return sum(self.budget(chain, stage) for stage in self.stages)

    def new_runs(self, chain: Chain) -> int:
        """Proxy runs that are trained for a chain alone, those it draws from pools left out."""
        return sum(self.runs(chain, stage) + self.probe_runs(chain, stage) for stage in self.stages)

    def probe_runs(self, chain: Chain, stage: str) -> int:
        """Runs of the probe swarm that auto partial reuse needs before it chooses."""
        if chain.strategy != AUTO or stage == INITIAL or not self._affected(stage):
            return 0
        return swarm_size(1 + self._affected(stage), 1)

    def _affected(self, stage: str) -> int:
        before, after = (
            stage_domains(self.sequence, name) for name in (self.previous(stage), stage)
        )
        split = split_domains(before, after)
        return len(split.resulting)

    def draws(self, chain: Chain, stage: str) -> bool:
        """Whether a chain draws its runs of a stage from the stage's pool.

        All do at the initial stage. Later, swarm reuse does, and full recomputation at the last
        stage: its mix there does not depend on the stages between.
        """
        last = stage == self.stages[-1]
        return (
            stage == INITIAL
            or chain.strategy == SWARM_REUSE
            or (last and chain.strategy in FROM_SCRATCH)
        )

    def pool(self, stage: str) -> str:
        """The swarm that is a stage's pool."""
        return f"pool-{stage}"

    def pool_size(self, stage: str) -> int:
        """Runs of the pool of a stage, from which seeds, multipliers and both R draw theirs."""
        drawn = [
            self.budget(chain, stage)
            for chains in self.groups().values()
            for chain in chains
            if self.draws(chain, stage)
        ]
        return round(self.scale["pool_share"] * max(drawn))

    def add_to(self, plan: Plan) -> None:
        """Put all swarms into the workflow's plan: pools, stages, probes, targets."""
        proxy = self.scale.proxy
        for number, stage in enumerate(self.stages):
            kind = "sparse" if stage == INITIAL else "two_level"
            size = self.pool_size(stage)
            if size:
                spec = MixesSpec(self.pool(stage), SpaceSpec(stage), size, kind, seed=11 + number)
                plan.sample(spec, proxy)
        for group, chains in self.groups().items():
            before = [self.pool(INITIAL)]
            for number, stage in enumerate(self.updates):
                for suffix, count in (("-probe", self.probe_runs), ("", self.runs)):
                    size = sum(count(chain, stage) for chain in chains)
                    if size:
                        name = f"{group}-{stage}{suffix}"
                        seed = 30 + number
                        plan.swarms[name] = SwarmSpec(
                            name, name, proxy, size, made_by="sample_stage", stage=stage, seed=seed
                        )
                        plan.after[name] = tuple(before)
                        before.append(name)
                if self.pool(stage) in plan.swarms:
                    before.append(self.pool(stage))
            names = ("natural", *(chain.name for chain in chains))
            # The checkpoints figure follows natural and partial reuse along training.
            partial = (c.name for c in chains if c.strategy == PARTIAL_MIXTURE_REUSE)
            curve = ("natural", *partial) if group == "main" else ()
            plan.swarms[f"{group}-target"] = SwarmSpec(
                f"{group}-target", f"{group}-{self.stages[-1]}", "target", len(names), names,
                curve=curve, made_by="update_mixes", stage=self.stages[-1],
            )  # fmt: skip
            plan.after[f"{group}-target"] = tuple(before)
        plan.question("updates", studies=(), swarms=["main-target"])
        plan.question("budgets", studies=(), swarms=[f"{group}-target" for group in self.groups()])
