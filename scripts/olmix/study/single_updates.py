"""Single updates: each operator alone, and the two additions of the theory figures (§5.2, App. D).

A single update is an updates file with one update. It goes through the rules of the evolving-domain
study as a group of chains of its own, and domain sets that several updates share have one pool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from olmix.domains import check_caps
from olmix.errors import OlmixError
from olmix.planning import FULL_MIXTURE_REUSE, FULL_RECOMPUTATION, PARTIAL_MIXTURE_REUSE
from olmix.study.scale import Scale
from olmix.study.space import stage_domains
from olmix.study.spec import MixesSpec, Plan, SpaceSpec, SwarmSpec
from olmix.study.update_plan import CONSTRUCTED, Chain, UpdatePlan
from olmix.update_sequence import INITIAL, UpdateSequence, load_updates
from olmix.updates import split_domains

__all__ = [
    "MULTIPLIER",
    "RELAXED",
    "TIGHT",
    "SingleUpdate",
    "add_single_updates",
    "load_single_updates",
]

RELAXED, TIGHT = "relaxed", "tight"
# Every swarm of the single updates is of K ≈ 3(m+1), the paper's default.
MULTIPLIER = 3


@dataclass(frozen=True)
class SingleUpdate(UpdatePlan):
    """One update, and what it is compared for.

    Parameters
    ----------
    name, file
        The update and its file.
    operators
        Whether it is one of the operators compared (tight R, as in the paper).
    theory
        Whether it is one of the additions of the theory figures (both R).
    coupling
        Whether partial reuse of its ``recompute`` is compared with full reuse (relaxed R).
    """

    name: str
    file: str
    operators: bool = False
    theory: bool = False
    coupling: bool = False
    #: stage -> its pool, which may be that of another update
    pools: Mapping[str, str] = field(default_factory=dict)

    @property
    def stage(self) -> str:
        """The stage the update leads to."""
        return self.stages[-1]

    def wanted(self) -> list[tuple[str, str]]:
        """(strategy, R) of everything the figures compare."""
        both = (FULL_RECOMPUTATION, FULL_MIXTURE_REUSE)
        wanted = [(strategy, TIGHT) for strategy in both if self.operators or self.theory]
        if self.theory or self.coupling:
            wanted += [(strategy, RELAXED) for strategy in both]
        if self.theory:
            wanted += [(strategy, RELAXED) for strategy in CONSTRUCTED]
        if self.coupling:
            wanted.append((PARTIAL_MIXTURE_REUSE, RELAXED))
        return wanted

    def groups(self) -> dict[str, list[Chain]]:
        """One group, named as the update."""
        seeds = self.scale.seeds()
        return {
            self.name: [
                Chain(strategy, MULTIPLIER, requested, seed)
                for strategy, requested in self.wanted()
                for seed in seeds
            ]
        }

    def pool(self, stage: str) -> str:
        """The swarm that is a stage's pool; updates with the same domains and prior share it."""
        return self.pools[stage]

    @property
    def target(self) -> str:
        """The swarm of target runs of its mixes."""
        return f"{self.name}-target"

    @property
    def swarms(self) -> list[str]:
        """Everything that is trained for it."""
        own = [self.own] if self.own_runs else []
        return [*self.pools.values(), *own, self.target]

    @property
    def own(self) -> str:
        """The swarm of the reusing chains' own runs, if they need any."""
        return f"{self.name}-{self.stage}"

    @property
    def own_runs(self) -> int:
        """Its size."""
        return sum(self.runs(chain, self.stage) for chain in self.groups()[self.name])


def load_single_updates(root: str | Path, main: UpdatePlan) -> dict[str, SingleUpdate]:
    """The updates that a scale's ``single_updates`` names, by name.

    ``main`` is the study of the scale's sequence of updates, whose initial pool they may share.
    """
    scale = main.scale
    settings = scale["single_updates"]
    roles: dict[str, dict[str, bool]] = {}
    for role, names in (
        ("operators", settings["operators"].values()),
        ("theory", settings["theory"]),
        ("coupling", [settings["coupling"]]),
    ):
        for name in names:
            roles.setdefault(name, {})[role] = True
    where = f"scale '{scale.name}', single_updates"
    pools = {_contents(main, INITIAL): main.pool(INITIAL)}
    updates = {}
    for name, parts in roles.items():
        if name in main.groups():
            raise OlmixError(f"{where}: '{name}' is a group of the main study, rename the file")
        file = f"{settings['folder']}/{name}.yaml"
        sequence = load_updates(Path(root) / file)
        _check(sequence, parts, scale, f"{where}, {file}")
        update = SingleUpdate(sequence, scale, name, file, **parts)
        shared = {
            stage: pools.setdefault(_contents(update, stage), f"pool-{name}-{stage}")
            for stage in update.stages
        }
        updates[name] = replace(update, pools=shared)
    return updates


def _contents(updates: UpdatePlan, stage: str) -> tuple[Any, ...]:
    """What decides a pool: its size, the domains it is over, and its prior."""
    domains = stage_domains(updates.sequence, stage)
    prior = updates.sequence.prior(stage).weights
    return updates.pool_size(stage), domains, tuple(prior.round(12))


def _check(sequence: UpdateSequence, roles: Mapping[str, bool], scale: Scale, where: str) -> None:
    """Refuse an update that its figures could not be made of."""
    if len(sequence.steps) != 1:
        raise OlmixError(f"{where}: {len(sequence.steps)} updates, expected one")
    before, after = (stage.domains for stage in sequence.stages())
    split = split_domains(before, after)
    if not split.unaffected:
        raise OlmixError(f"{where}: every domain is affected, there is nothing to reuse")
    if roles.get("theory") and split.affected:
        raise OlmixError(f"{where}: affects '{split.affected[0]}', the theory is for additions")
    if roles.get("coupling") and not sequence.steps[0].recompute:
        raise OlmixError(f"{where}: no domains under recompute, whose coupling is to be compared")
    if sequence.reuse_within:
        raise OlmixError(f"{where}: reuse_within, expected none in a single update")
    for domains in (before, after):
        for label, requested in scale["requested_tokens"].items():
            try:
                check_caps(domains.names, domains.caps(scale["repetition"], requested), requested)
            except OlmixError as error:
                raise OlmixError(f"{where}, requested_tokens {label}: {error}") from None


def add_single_updates(plan: Plan, updates: Mapping[str, SingleUpdate]) -> None:
    """Put pools, swarms and target runs of all single updates into the workflow's plan."""
    for number, update in enumerate(updates.values()):
        for place, (stage, pool) in enumerate(update.pools.items()):
            if pool not in plan.swarms:
                _add_pool(plan, update, stage, seed=40 + 2 * number + place)
        if update.own_runs:
            plan.swarms[update.own] = SwarmSpec(
                update.own, update.own, update.scale.proxy, update.own_runs,
                made_by="sample_stage", stage=update.stage, seed=60 + number,
            )  # fmt: skip
            plan.after[update.own] = tuple(update.pools.values())
        natural = ["natural"] if update.operators else []
        names = (*natural, *(chain.name for chain in update.groups()[update.name]))
        plan.swarms[update.target] = SwarmSpec(
            update.target, update.own, "target", len(names), names,
            made_by="update_mixes", stage=update.stage,
        )  # fmt: skip
        plan.after[update.target] = tuple(update.swarms[:-1])
        for name in (update.name, update.own, update.target):
            plan.update_files[name] = update.file
    for question in ("operators", "theory"):
        swarms = [
            swarm
            for update in updates.values()
            if getattr(update, question) or (question == "theory" and update.coupling)
            for swarm in update.swarms
        ]
        plan.question(question, studies=(), swarms=swarms)


def _add_pool(plan: Plan, update: SingleUpdate, stage: str, seed: int) -> None:
    """A pool over a stage's domains.

    As in the main study: one source sparsely, several by their weights and then inside each.
    """
    domains = stage_domains(update.sequence, stage)
    kind = "sparse" if len(domains.sources) == 1 else "two_level"
    name, size = update.pool(stage), update.pool_size(stage)
    plan.sample(MixesSpec(name, SpaceSpec(stage), size, kind, seed=seed), update.scale.proxy)
    plan.update_files[name] = update.file
