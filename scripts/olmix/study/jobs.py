"""What each job of the workflow reads and is told: the plan as files and parameters.

Rules take both from here, by the name in their wildcard; no other place puts a file's name
together. Folders are named after the rules that write them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from olmix.cost.compute import JobRequest, Machine, RunCost
from olmix.provenance.progress import PROXIES, TARGETS, Training
from olmix.study.chain import Chain
from olmix.study.methods import OLMIX_BASE
from olmix.study.plan import TARGET, Plan
from olmix.study.scale import Scale
from olmix.study.space import FINAL
from olmix.study.spec import MixesSpec, SpaceSpec, StudySpec, SwarmSpec, as_params, job_sizes
from olmix.study.system_jobs import (
    AnswersJob,
    RoundJob,
    SingleRunsJob,
    learns_from,
    rounds_input,
    system_params,
    training_of,
)
from olmix.study.update_plan import Group, UpdatePlan
from olmix.updates.sequence import INITIAL

__all__ = ["Jobs", "MixesJob", "QuestionJob", "StageJobs", "StudyJobs", "SwarmJobs", "both_tables"]

# Settings of a model that say what its jobs ask for, and nothing about the result.
_HARDWARE = ("threads", "gpu", "nodes", "processes_per_node", "sharding")


class Jobs:
    """The jobs of a plan, by what they are about."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.results = f"results/{plan.scale.name}"
        self.data = f"{self.results}/build_domains"
        self._swarms: dict[str, SwarmJobs] = {}

    def swarm(self, name: str) -> "SwarmJobs":
        """The jobs that list, train, evaluate and collect a swarm; the same object for all."""
        if name not in self._swarms:
            spec = self.plan.swarms[name]
            space = SpaceSpec(spec.stage) if spec.stage else self.plan.mixes[spec.mixes].space
            self._swarms[name] = SwarmJobs(
                spec,
                space,
                self._updates(name),
                self.plan.scale,
                self.results,
                training_of(self, name),
                learns_from(self, name),
            )
        return self._swarms[name]

    def mixes(self, name: str) -> "MixesJob":
        """The job that samples some mixes, by their name."""
        return MixesJob(self.plan.mixes[name], self._updates(name), self.plan.scale, self.results)

    def study(self, name: str) -> "StudyJobs":
        """The jobs that fit the models of a study and propose its mixes."""
        spec = self.plan.studies[name]
        return StudyJobs(spec, [self.swarm(swarm) for swarm in spec.swarms], self.plan.updates)

    def stage(self, name: str) -> "StageJobs":
        """The jobs of a group of chains at a stage, by the name of both."""
        updates, group, stage = self._steps[name]
        return StageJobs(self, updates, group, stage)

    def probe(self, name: str) -> "StageJobs":
        """The jobs of the stage at which a probe swarm is run, by the swarm's name."""
        return self.stage(self.probes[name])

    def round(self, name: str) -> RoundJob:
        """The job that asks for the runs of a round, by the name of its swarm."""
        return RoundJob(self, self.plan.rounds[name])

    def single_runs(self, name: str) -> SingleRunsJob:
        """The job that measures a graph on one run per domain, by the swarm of these runs."""
        return SingleRunsJob(self, name)

    @property
    def answers(self) -> AnswersJob:
        """The job that writes down what systems answer with."""
        return AnswersJob(self)

    def question(self, name: str) -> "QuestionJob":
        """The job that answers a question."""
        return QuestionJob(self, name)

    @property
    def method(self) -> dict[str, str]:
        """OlmixBase after its swarm: regression family, granularity and solver."""
        return self.method_of(OLMIX_BASE)

    def method_of(self, name: str) -> dict[str, str]:
        """A method after its swarm: regression family, granularity and solver."""
        spec = self.plan.methods[name].proposal("", "", self.plan.scale)
        return {key: getattr(spec, key) for key in ("regressor", "granularity", "proposer")}

    def request_of(self, name: str) -> dict[str, Any]:
        """What a method asks of every mix: kl, repetition, and requested tokens by label."""
        scale = self.plan.scale
        spec, asked = self.plan.methods[name].proposal("", "", scale), scale["requested_tokens"]
        return {"kl": spec.kl, "repetition": spec.repetition, "requested_tokens": asked}

    @property
    def scoring(self) -> dict[str, int]:
        """How training scores its finished runs: as the evaluation rules would."""
        settings = self.plan.scale["evaluation"]
        options = {"--batch-tokens": settings["batch_tokens"]}
        if settings["max_instances"] is not None:
            options["--max-instances"] = settings["max_instances"]
        return options

    @property
    def steps(self) -> list[str]:
        """The name of every step: a group of chains at a stage."""
        return list(self._steps)

    @cached_property
    def probes(self) -> dict[str, str]:
        """Every probe swarm, and the step it is run for."""
        return {
            group.probe(stage): name
            for name, (_, group, stage) in self._steps.items()
            if group.probe(stage) in self.plan.swarms
        }

    @cached_property
    def _steps(self) -> dict[str, tuple[UpdatePlan, Group, str]]:
        return {
            group.at(stage): (updates, group, stage)
            for updates in (self.plan.updates, *self.plan.single_updates.values())
            for group in updates.groups.values()
            for stage in updates.stages
        }

    def of_model(self, *, target: bool) -> list[str]:
        """The swarms of the target, or all others."""
        swarms = self.plan.swarms.items()
        return [name for name, swarm in swarms if (swarm.model == TARGET) == target]

    def _updates(self, name: str) -> UpdatePlan:
        """The sequence of updates that mixes or a swarm are about."""
        file = self.plan.update_files.get(name)
        return self._by_file[file] if file else self.plan.updates

    @cached_property
    def _by_file(self) -> dict[str, UpdatePlan]:
        return {update.file: update for update in self.plan.single_updates.values()}


@dataclass(frozen=True)
class MixesJob:
    """What the job that samples some mixes reads and is told."""

    spec: MixesSpec
    updates: UpdatePlan
    scale: Scale
    results: str

    @property
    def prior(self) -> dict[str, str]:
        """The file of the proposal that the mixes are centred on, if they are."""
        if self.spec.prior is None:
            return {}
        study, _ = self.spec.prior
        return {"prior": f"{self.results}/propose_mixes/{study}"}

    @property
    def distributions(self) -> dict[str, Any]:
        """The settings of the distribution that mixes are drawn from; designs have none."""
        kind, known = self.spec.kind, self.scale["swarm"]
        key = "updates" if kind == "two_level" else kind
        return {key: known[key]} if key in known else {}

    @property
    def caps(self) -> dict[str, float]:
        """What a constrained swarm is constrained by; nothing for the others."""
        if not self.spec.capped:
            return {}
        requested = self.scale["requested_tokens"]["tight"]
        return {"repetition": self.scale["repetition"], "requested": requested}

    @property
    def rerun_when(self) -> list[Any]:
        """The domains sampled over, and the shares of their sources where they matter."""
        stage, sequence = self.spec.space.stage, self.updates.sequence
        shares = {step.name: dict(step.prior) for step in sequence.steps}
        shares[INITIAL] = dict(sequence.initial_prior)
        drawn = shares.get(stage, {}) if self.spec.kind == "two_level" else {}
        return [self.updates.domain_prints[stage], drawn]


@dataclass(frozen=True)
class SwarmJobs:
    """What the jobs that list, train, evaluate and collect a swarm read and are told."""

    spec: SwarmSpec
    space: SpaceSpec
    updates: UpdatePlan
    scale: Scale
    results: str
    #: how its runs are trained, where it is not as any other (`olmix.study.system_jobs`)
    trained_as: Mapping[str, Any] = field(default_factory=dict)
    #: the files from which that is known once other swarms are trained
    learns_from: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the swarm."""
        return self.spec.name

    @property
    def model(self) -> dict[str, Any]:
        """The scale's settings of the model that the swarm trains."""
        return self.scale.model(self.spec.model)

    @property
    def science(self) -> dict[str, Any]:
        """The settings of the model that decide a run's result, and how the swarm trains it."""
        settings = {key: value for key, value in self.model.items() if key not in _HARDWARE}
        return settings | dict(self.trained_as)

    @property
    def rerun_when(self) -> str:
        """A fingerprint of the domains of the swarm's stage."""
        return self.updates.domain_prints[self.space.stage]

    @property
    def mixes(self) -> str:
        """The table of the swarm's mixes: sampled, or proposed."""
        return f"{self.results}/{self.spec.made_by}/{self.spec.mixes}.csv"

    @property
    def ratios(self) -> str:
        """The collected mixes of the swarm (`ratios.csv`)."""
        return f"{self.results}/collect_swarm/{self.name}/ratios.csv"

    @property
    def metrics(self) -> str:
        """What the swarm's runs measured (`metrics.csv`)."""
        return f"{self.results}/collect_swarm/{self.name}/metrics.csv"

    @property
    def kind(self) -> str:
        """Which training rules the swarm goes through: those of targets, or of proxies."""
        return "targets" if self.spec.model == TARGET else "proxies"

    @property
    def jobs(self) -> list[int]:
        """How many runs each of the swarm's jobs has."""
        return job_sizes(self.spec.size, self.model)

    @property
    def trained(self) -> list[str]:
        """The folders of the swarm's trained runs, one per job."""
        return self._per_job(f"train_{self.kind}")

    @property
    def evaluations(self) -> list[str]:
        """The folders of the evaluations of the swarm's runs, one per job."""
        return self._per_job(f"evaluate_{self.kind}")

    def lists(self, jobs: Iterable[int]) -> tuple[str, ...]:
        """The files that list the runs of some of the swarm's jobs."""
        return tuple(f"{self.results}/list_runs/{self.name}/{job}.json" for job in jobs)

    def watched(self, jobs: list[int], *, listed: bool) -> Training:
        """What some of the swarm's jobs train, for the record of progress."""
        sizes = self.jobs
        return Training(
            swarm=self.name,
            kind=TARGETS if self.spec.model == TARGET else PROXIES,
            lists=self.lists(jobs),
            runs=sum(sizes[job] for job in jobs),
            work=self.cost.hours(),
            listed=listed,
        )

    def _per_job(self, rule: str) -> list[str]:
        return [f"{self.results}/{rule}/{self.name}/{job}" for job in range(len(self.jobs))]

    @property
    def scored(self) -> int:
        """How often one of the swarm's runs is scored at most."""
        return 1 + (len(self.model.get("evaluate_at", ())) if self.spec.curve else 0)

    @property
    def cost(self) -> RunCost:
        """What one of the swarm's runs costs."""
        return RunCost(self.spec.model, self.model, Machine.from_dict(self.scale["hardware"]))

    @cached_property
    def training(self) -> JobRequest:
        """Minutes, memory and micro batch of a job that trains some of the swarm's runs."""
        return self.cost.training_request(self.jobs[0], self.scored)


@dataclass(frozen=True)
class StudyJobs:
    """What the jobs that fit a study's models and propose its mixes read and are told."""

    spec: StudySpec
    swarms: list[SwarmJobs]
    updates: UpdatePlan

    @property
    def tables(self) -> dict[str, list[str]]:
        """The tables of the swarms that the study is fitted on."""
        return both_tables(self.swarms)

    @property
    def spaces(self) -> dict[str, dict[str, Any]]:
        """The space of each swarm's mixes."""
        return {swarm.name: as_params(swarm.space) for swarm in self.swarms}

    @property
    def rerun_when(self) -> list[str]:
        """The domains that mixes are proposed over, and those of the table they end up in."""
        final = self.updates.domain_prints[FINAL]
        return [*sorted({swarm.rerun_when for swarm in self.swarms}), final]


@dataclass(frozen=True)
class StageJobs:
    """Sampling, choosing and proposing for the chains of a group at a stage (§5.1).

    Tables are labelled (stage, role): the chains' ``own`` runs, a ``probe``, or a ``pool``.
    """

    all: Jobs
    updates: UpdatePlan
    group: Group
    stage: str

    @property
    def number(self) -> int:
        """The place of the stage in its sequence, from 0 on."""
        return self.updates.stages.index(self.stage)

    @property
    def rerun_when(self) -> str:
        """What the sequence says of the stage and of those before it."""
        return self.updates.lineage_prints[self.stage]

    @property
    def method(self) -> dict[str, Any]:
        """The sequence's mixing method after its swarm, or the system that answers instead."""
        if self.updates.system is not None:
            return system_params(self.all, self.updates.system)
        return self.all.method_of(self.updates.sequence.method)

    @property
    def request(self) -> dict[str, Any]:
        """What that method asks of every mix: kl, repetition, and requested tokens by label."""
        system, scale = self.updates.system, self.all.plan.scale
        if system is not None:
            repetition = scale["repetition"] if system.repetition_constraint else None
            return {
                "kl": scale["kl"],
                "repetition": repetition,
                "requested_tokens": scale["requested_tokens"],
            }
        return self.all.request_of(self.updates.sequence.method)

    @property
    def own(self) -> SwarmJobs | None:
        """The swarm of the chains' own runs at the stage, if one of them trains any."""
        return self._swarm(self.group.at(self.stage))

    @property
    def probe(self) -> SwarmJobs | None:
        """The probe swarm of the stage, run before it is chosen what to recompute, if any."""
        return self._swarm(self.group.probe(self.stage))

    @property
    def pool(self) -> SwarmJobs | None:
        """The pool of runs that the chains draw from, if any does."""
        return self._swarm(self.updates.pools[self.stage])

    def _swarm(self, name: str) -> SwarmJobs | None:
        return self.all.swarm(name) if name in self.all.plan.swarms else None

    @property
    def rounds(self) -> list[str]:
        """The swarms of the rounds at the stage, where a system answers in rounds."""
        name, rounds = self.group.at(self.stage), self.all.plan.rounds.values()
        return [spec.name for spec in rounds if spec.step == name]

    def asked(self, number: int) -> list[tuple[dict[str, Any], int]]:
        """The chains with a round of this number, each with how many runs: (chain, runs)."""
        chains = self.updates.active(self.group.name, self.stage)
        sizes = [(chain, self.updates.round_sizes(chain, self.stage)) for chain in chains]
        return [(chain.to_dict(), each[number]) for chain, each in sizes if number < len(each)]

    @property
    def mixes(self) -> str:
        """The folder of the chains' mixes."""
        return f"{self.all.results}/update_mixes/{self.group.at(self.stage)}"

    @property
    def previous(self) -> dict[str, str]:
        """The mixes of the stage before, which chains start from; none at the first."""
        if self.stage == INITIAL:
            return {}
        return {"previous": self._at(self.updates.previous(self.stage)).mixes}

    @property
    def choices(self) -> dict[str, str]:
        """What chains chose to recompute, where one of them probed."""
        if self.probe is None:
            return {}
        name = self.group.at(self.stage)
        return {"choices": f"{self.all.results}/choose_recomputed/{name}.json"}

    def _at(self, stage: str) -> "StageJobs":
        return StageJobs(self.all, self.updates, self.group, stage)

    def _tables(self, *roles: tuple[str, str]) -> dict[tuple[str, str], SwarmJobs]:
        """Collected swarms by stage and role, those that there are."""
        found = {(stage, role): getattr(self._at(stage), role) for stage, role in roles}
        return {label: swarm for label, swarm in found.items() if swarm is not None}

    @property
    def known_before(self) -> dict[tuple[str, str], SwarmJobs]:
        """What a choice is made from: the probe, all earlier runs, and the initial pool."""
        before = self.updates.stages[: self.number]
        earlier = [(stage, role) for stage in before for role in ("own", "probe")]
        return self._tables((self.stage, "probe"), *earlier, (INITIAL, "pool"))

    @property
    def known(self) -> dict[tuple[str, str], SwarmJobs]:
        """What mixes are proposed from: the stage's runs, and all pools so far.

        None where a system answers: it has its `rounds`.
        """
        if self.updates.system is not None:
            return {}
        pools = [(stage, "pool") for stage in self.updates.stages[: self.number + 1]]
        return self._tables((self.stage, "own"), (self.stage, "probe"), *pools)

    @property
    def tables_before(self) -> dict[str, list[str]]:
        """The files of the tables that a choice is made from (`known_before`)."""
        return both_tables(self.known_before.values())

    @property
    def tables(self) -> dict[str, list[str]]:
        """The files of the tables that mixes are proposed from (`known`, or `rounds`)."""
        if self.updates.system is not None:
            return rounds_input(self.all, self.rounds)
        return both_tables(self.known.values())

    @property
    def chains(self) -> list[dict[str, Any]]:
        """The chains that have a mix at this stage."""
        return [chain.to_dict() for chain in self.updates.active(self.group.name, self.stage)]

    @property
    def sampled(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that train runs of their own, each with how many: (chain, runs)."""
        return self._counted(self.updates.runs)

    @property
    def probed(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that run a probe, each with how many runs: (chain, runs)."""
        return self._counted(self.updates.probe_runs)

    def _counted(self, count: Callable[[Chain, str], int]) -> list[tuple[dict[str, Any], int]]:
        counted = [(chain.to_dict(), count(chain, self.stage)) for chain in self.group.chains]
        return [(chain, runs) for chain, runs in counted if runs]

    @property
    def budgets(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that run a probe, each with all the runs it may spend: (chain, budget)."""
        return [
            (chain.to_dict(), self.updates.budget(chain, self.stage))
            for chain in self.group.chains
            if self.updates.probe_runs(chain, self.stage)
        ]


@dataclass(frozen=True)
class QuestionJob:
    """What the job that answers a question reads and is told."""

    all: Jobs
    name: str

    @property
    def swarms(self) -> list[SwarmJobs]:
        """The swarms whose tables the answer reads."""
        return [self.all.swarm(swarm) for swarm in self.all.plan.read_swarms(self.name)]

    @property
    def planned(self) -> dict[str, Any]:
        """What the answer is told of the plan."""
        return dict(self.all.plan.reads[self.name].planned)

    @property
    def input(self) -> dict[str, Any]:
        """Data, tables, proposals, and the runs themselves where they are read and trained."""
        reads, results = self.all.plan.reads[self.name], self.all.results
        groups = self.all.plan.groups
        stages = [groups[group].groups[group].at(stage) for group, stage in reads.stages]
        trained = reads.trained if self.all.plan.scale["engine"] == "train" else ()
        return {
            "data": self.all.data,
            **both_tables(self.swarms),
            "proposals": [
                *([self.all.answers.folder] if reads.answers else []),
                *(f"{results}/propose_mixes/{study}" for study in reads.studies),
                *(self.all.stage(name).mixes for name in stages),
            ],
            "runs": [folder for name in trained for folder in self.all.swarm(name).trained],
        }


def both_tables(swarms: Iterable[SwarmJobs]) -> dict[str, list[str]]:
    """What was mixed and what was measured of collected swarms, as a job's inputs."""
    swarms = list(swarms)
    return {
        "ratios": [swarm.ratios for swarm in swarms],
        "metrics": [swarm.metrics for swarm in swarms],
    }
