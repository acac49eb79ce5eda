"""The plan of a scale: everything that is sampled, trained and proposed, by name.

A question's `plan.py` asks for what it needs; what two questions ask for alike is made once. The
workflow then takes from here which job needs which files and what it is told.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.study.methods import OLMIX_BASE, MixingMethod, load_methods
from olmix.study.public_data import PublicData
from olmix.study.scale import Scale
from olmix.study.space import FINAL, stage_domains
from olmix.study.spec import (
    FixedMixSpec,
    MixesSpec,
    ProposalSpec,
    Reads,
    SpaceSpec,
    StudySpec,
    SwarmSpec,
)
from olmix.study.systems import AnswerSpec, RoundSpec, SteeringSpec, System, load_systems
from olmix.study.update_methods import system_in_updates
from olmix.study.update_plan import Group, UpdatePlan, pool_contents
from olmix.systems.kinds.rounds import Rounds
from olmix.updates.sequence import INITIAL, load_updates
from olmix.updates.strategies import Strategy

__all__ = ["SOURCES", "TARGET", "TOPICS", "Plan"]

TARGET = "target"
#: The initial domains, which are topics; and the sources of the final ones.
TOPICS = SpaceSpec()
SOURCES = SpaceSpec(stage=FINAL, split="sources")


@dataclass
class Plan:
    """What a scale samples, trains and proposes; `open` reads its config, questions fill it.

    Parameters
    ----------
    scale, methods, systems
        The scale's settings, and the mixing methods by name: those that are seven choices, and
        those that are algorithms.
    updates
        The scale's own sequence of updates.
    root
        The folder that config files are relative to.
    """

    scale: Scale
    methods: Mapping[str, MixingMethod]
    systems: Mapping[str, System]
    updates: UpdatePlan
    root: Path
    mixes: dict[str, MixesSpec] = field(default_factory=dict)
    swarms: dict[str, SwarmSpec] = field(default_factory=dict)
    studies: dict[str, StudySpec] = field(default_factory=dict)
    #: question -> what its answer reads
    reads: dict[str, Reads] = field(default_factory=dict)
    #: name -> a sequence with one update, followed by chains of its own
    single_updates: dict[str, UpdatePlan] = field(default_factory=dict)
    #: mixes or swarm -> its updates file, where it is not the scale's own
    update_files: dict[str, str] = field(default_factory=dict)
    #: swarm -> the swarms its mixes come from, where neither a study nor a prior says so
    after: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: domains whose text cannot be had -> why
    missing: Mapping[str, str] = field(default_factory=dict)
    #: swarm -> the share of each domain that is there to be read, where it is not all
    shares: dict[str, float] = field(default_factory=dict)
    #: swarm -> what moves the mix or the weights of its runs, where something does
    steering: dict[str, SteeringSpec] = field(default_factory=dict)
    #: swarm -> the round of a system that it is
    rounds: dict[str, RoundSpec] = field(default_factory=dict)
    #: the mixes that systems answer with, by name
    answers: dict[str, AnswerSpec] = field(default_factory=dict)
    #: what a pool holds -> its name
    _pools: dict[tuple[Any, ...], str] = field(default_factory=dict)

    @classmethod
    def open(cls, scale: Scale, root: str | Path) -> "Plan":
        """An empty plan of a scale, with its sequence of updates and the methods of ``config``."""
        root = Path(root)
        folder = root / "config" / "methods"
        methods, systems = load_methods(folder), load_systems(folder)
        sequence = load_updates(root / scale["updates"], priors=scale.priors)
        system = system_in_updates(scale["updates"], sequence, scale, methods, systems)
        updates = UpdatePlan(scale["updates"], sequence, scale, system=system)
        updates.pools.update({stage: f"pool-{stage}" for stage in updates.stages})
        missing = PublicData.open(scale, root).missing if "public" in scale["data"] else {}
        plan = cls(scale, methods, systems, updates, root, missing=missing)
        plan._pools[pool_contents(updates.sequence, INITIAL)] = updates.pools[INITIAL]
        return plan

    # What questions ask for

    def olmix_base(self, name: str, swarm: str, **changes: Any) -> ProposalSpec:
        """OlmixBase's proposal on a swarm, but for what a question varies.

        Its choices are those of ``config/methods/olmix_base.yaml``, with the scale's kl and
        repetition.
        """
        return replace(self.methods[OLMIX_BASE].proposal(name, swarm, self.scale), **changes)

    def asked(self, strategies: Iterable[Strategy]) -> list[Strategy]:
        """Of some strategies the paper's, and ours where the scale wants them."""
        return [strategy for strategy in strategies if strategy.paper or self.scale.ours]

    def topics(self) -> str:
        """The name of the main swarm: sparse, over topics."""
        return self.sample(MixesSpec("topics", TOPICS, self.scale["swarm_sizes"]["topics"]))

    def sources(self) -> str:
        """The name of the main swarm over sources: dense."""
        size = self.scale["swarm_sizes"]["sources"]
        return self.sample(MixesSpec("sources", SOURCES, size, kind="dense"))

    def some_topics(self, m: int) -> str:
        """The swarm over m topics: those that the scale lists, or the largest; the main if all."""
        settings = self.scale["rq2"]
        if m == max(settings["domains"]):
            return self.topics()
        size = settings["pool_multiplier"] * (m + 1)
        listed = {len(names): tuple(names) for names in settings.get("sets", ())}
        space = replace(TOPICS, only=listed[m]) if m in listed else replace(TOPICS, largest=m)
        return self.sample(MixesSpec(f"topics-{m}", space, size, seed=2))

    def sample(self, spec: MixesSpec, model: str | None = None) -> str:
        """Add sampled mixes and a swarm of the same name trained on them (proxies, if not said).

        Two questions may ask for the same swarm; asking for another one under its name is a bug.
        """
        _put(self.mixes, spec.name, spec)
        swarm = SwarmSpec(
            spec.name, spec.name, model or self.scale.proxy, spec.size, seed=spec.seed
        )
        _put(self.swarms, spec.name, swarm)
        return spec.name

    def train_on(self, mixes: str, model: str) -> str:
        """Add a swarm of another model on sampled mixes in the plan, with their data seeds."""
        spec, name = self.mixes[mixes], f"{mixes}-{model}"
        _put(self.swarms, name, SwarmSpec(name, mixes, model, spec.size, seed=spec.seed))
        return name

    def propose(
        self,
        study: str,
        proposals: Iterable[ProposalSpec],
        fixed: Iterable[FixedMixSpec] = (),
    ) -> StudySpec:
        """Add a study: proposals and fixed mixes that are made together, in one job."""
        spec = StudySpec(study, tuple(proposals), tuple(fixed))
        if len(set(spec.mixes)) < len(spec.mixes):
            raise OlmixError(f"study '{study}': two proposals have the same name")
        _put(self.studies, study, spec)
        return spec

    def train_proposals(
        self, study: str, model: str, only: Iterable[str] | None = None, *, repeats: int = 1
    ) -> list[str]:
        """Add the runs of a model on a study's proposals (or some of them).

        Each repetition is a swarm of its own, with another data order.
        """
        names = list(self.studies[study].mixes if only is None else only)
        kind = TARGET if model == TARGET else "proxy"
        swarms = [f"{study}-{kind}"]
        swarms += [f"{study}-{kind}-repeat{number}" for number in range(1, repeats)]
        for seed, swarm in enumerate(swarms):
            spec = SwarmSpec(
                swarm, study, model, len(names), tuple(names), seed=seed, made_by="propose_mixes",
                stage=FINAL,
            )  # fmt: skip
            _put(self.swarms, swarm, spec)
        return swarms

    def train_targets(self, study: str, only: Iterable[str] | None = None) -> list[str]:
        """The target runs of a study's proposals, repeated as often as the scale says."""
        return self.train_proposals(study, TARGET, only, repeats=self.scale["target_repeats"])

    def single_update(self, name: str) -> UpdatePlan:
        """The single update of a name: a sequence of its own, with one update."""
        if name not in self.single_updates:
            file = f"{self.scale['single_updates']['folder']}/{name}.yaml"
            sequence = load_updates(self.root / file, priors=self.scale.priors)
            system = system_in_updates(file, sequence, self.scale, self.methods, self.systems)
            update = UpdatePlan(file, sequence, self.scale, name, system=system)
            for stage in update.stages:
                contents = pool_contents(update.sequence, stage)
                update.pools[stage] = self._pools.setdefault(contents, f"pool-{name}-{stage}")
            self.single_updates[name] = update
        return self.single_updates[name]

    def lacks(self, update: UpdatePlan) -> str | None:
        """Why an update cannot be tried: text of one of its domains cannot be had."""
        names = {domain.name for stage in update.sequence.stages() for domain in stage.domains}
        found = [f"no text of {name} ({self.missing[name]})" for name in names & set(self.missing)]
        return min(found, default=None)

    # What follows once every question has asked

    def close(self) -> "Plan":
        """Size the pools, and add what all chains of updates train; nothing is asked for later."""
        self._add_updates(self.updates, pool_seed=11, seed=30)
        for number, update in enumerate(self.single_updates.values()):
            self._add_updates(update, pool_seed=40 + 2 * number, seed=60 + number)
        return self

    def _add_updates(self, updates: UpdatePlan, pool_seed: int, seed: int) -> None:
        """Pools, the chains' own swarms stage by stage, and target runs, of one sequence."""
        for place, stage in enumerate(updates.stages):
            self._add_pool(updates, stage, pool_seed + place)
        for group in updates.groups.values():
            before: list[str] = []
            if updates.system is None:
                self._add_stages(updates, group, seed, before)
            elif updates.system.kind is Rounds:
                self._add_rounds(updates, group, seed, before)
            target = SwarmSpec(
                group.target, group.at(updates.last), TARGET, len(group.mixes), group.mixes,
                curve=group.curve, made_by="update_mixes", stage=updates.last,
            )  # fmt: skip
            self._add_swarm(target, updates, before)

    def _add_stages(self, updates: UpdatePlan, group: Group, seed: int, before: list[str]) -> None:
        """The swarms of a group stage by stage, each put down in ``before`` for those after it."""
        before.append(updates.pools[INITIAL])
        for place, stage in enumerate(updates.updates):
            for name, count in (
                (group.probe(stage), updates.probe_runs),
                (group.at(stage), updates.runs),
            ):
                size = sum(count(chain, stage) for chain in group.chains)
                if size:
                    swarm = SwarmSpec(
                        name, name, self.scale.proxy, size, made_by="sample_stage", stage=stage,
                        seed=seed + place,
                    )  # fmt: skip
                    self._add_swarm(swarm, updates, before)
                    before.append(name)
            if updates.pools[stage] in self.swarms:
                before.append(updates.pools[stage])

    def _add_rounds(self, updates: UpdatePlan, group: Group, seed: int, before: list[str]) -> None:
        """The rounds of a group's system stage by stage, put down in ``before`` like stages."""
        assert updates.system is not None
        for place, stage in enumerate(updates.stages):
            chains, rounds = updates.active(group.name, stage), list[str]()
            sizes = zip_longest(*(updates.round_sizes(c, stage) for c in chains), fillvalue=0)
            for number, size in enumerate(map(sum, sizes)):
                name = group.round(stage, number)
                spec = RoundSpec(
                    name, updates.system.name, size, number, tuple(rounds), group.at(stage)
                )
                _put(self.rounds, name, spec)
                swarm = SwarmSpec(
                    name, name, str(updates.system.proxy_size), size, made_by="ask_round",
                    stage=stage, seed=100 * (seed + place) + number,
                )  # fmt: skip
                self._add_swarm(swarm, updates, before)
                before.append(name)
                rounds.append(name)

    def _add_pool(self, updates: UpdatePlan, stage: str, seed: int) -> None:
        """A pool over a stage's domains, for all who share it, if any chain draws from it.

        Domains of one source are drawn sparsely; of several, by their weights and inside each.
        """
        name = updates.pools[stage]
        size = max(
            other.pool_size(where)
            for other in (self.updates, *self.single_updates.values())
            for where, pool in other.pools.items()
            if pool == name
        )
        if not size or name in self.swarms:
            return
        one_source = len(stage_domains(updates.sequence, stage).sources) == 1
        kind = "sparse" if one_source else "two_level"
        self.sample(MixesSpec(name, SpaceSpec(stage), size, kind, seed=seed))
        if updates.name:
            self.update_files[name] = updates.file

    def _add_swarm(self, swarm: SwarmSpec, updates: UpdatePlan, before: list[str]) -> None:
        _put(self.swarms, swarm.name, swarm)
        self.after[swarm.name] = tuple(before)
        if updates.name:
            self.update_files[swarm.name] = updates.file

    # What is known of the whole

    @property
    def groups(self) -> dict[str, UpdatePlan]:
        """Every group of chains, and the sequence of updates it goes through."""
        sequences = (self.updates, *self.single_updates.values())
        return {group: updates for updates in sequences for group in updates.groups}

    def read_swarms(self, question: str) -> list[str]:
        """The swarms whose tables a question's answer reads: its own and those of its studies."""
        reads = self.reads[question]
        studied = [swarm for study in reads.studies for swarm in self.studies[study].swarms]
        return list(dict.fromkeys((*reads.swarms, *studied)))

    def needed_swarms(self, question: str) -> set[str]:
        """Every swarm a question depends on, through its proposals and their priors."""
        needed: set[str] = set()
        waiting = self.read_swarms(question)
        while waiting:
            name = waiting.pop()
            if name in needed:
                continue
            needed.add(name)
            waiting += self.comes_after(name)
        return needed

    def comes_after(self, name: str) -> tuple[str, ...]:
        """The swarms that must be collected before the mixes of a swarm are known."""
        swarm = self.swarms[name]
        study = swarm.mixes if swarm.made_by == "propose_mixes" else None
        prior = self.mixes[swarm.mixes].prior if swarm.made_by == "sample_swarm" else None
        if prior is not None:
            study, _ = prior
        studied = self.studies[study].swarms if study else ()
        return (*studied, *self.after.get(name, ()))


def _put(table: dict[str, Any], name: str, value: Any) -> None:
    if table.setdefault(name, value) != value:
        raise OlmixError(f"plan: '{name}' is asked for twice, differently")
