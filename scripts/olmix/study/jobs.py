"""What each job of the workflow reads and is told: the plan as files and parameters.

Rules take both from here, by the name in their wildcard; no other place puts a file's name
together. Folders are named after the rules that write them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from olmix.study.methods import OLMIX_BASE
from olmix.study.plan import TARGET, Plan
from olmix.study.space import FINAL
from olmix.study.spec import SpaceSpec, StudySpec, as_params
from olmix.study.stage_jobs import StageJobs
from olmix.study.swarm_jobs import MixesJob, SwarmJobs, both_tables
from olmix.study.system_jobs import (
    AnswersJob,
    RoundJob,
    SingleRunsJob,
    learns_from,
    training_of,
)
from olmix.study.update_plan import Group, UpdatePlan

__all__ = ["Jobs", "QuestionJob", "StudyJobs"]


class Jobs:
    """The jobs of a plan, by what they are about."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.results = f"results/{plan.scale.name}"
        self.data = f"{self.results}/build_domains"
        self._swarms: dict[str, SwarmJobs] = {}

    def swarm(self, name: str) -> SwarmJobs:
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

    def mixes(self, name: str) -> MixesJob:
        """The job that samples some mixes, by their name."""
        return MixesJob(self.plan.mixes[name], self._updates(name), self.plan.scale, self.results)

    def study(self, name: str) -> "StudyJobs":
        """The jobs that fit the models of a study and propose its mixes."""
        spec = self.plan.studies[name]
        return StudyJobs(spec, [self.swarm(swarm) for swarm in spec.swarms], self.plan.updates)

    def stage(self, name: str) -> StageJobs:
        """The jobs of a group of chains at a stage, by the name of both."""
        updates, group, stage = self._steps[name]
        return StageJobs(self, updates, group, stage)

    def probe(self, name: str) -> StageJobs:
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
        """Data, tables, proposals, choices, and the runs where they are read and trained."""
        reads, results = self.all.plan.reads[self.name], self.all.results
        trained = reads.trained if self.all.plan.scale["engine"] == "train" else ()
        return {
            "data": self.all.data,
            **both_tables(self.swarms),
            "proposals": [
                *([self.all.answers.folder] if reads.answers else []),
                *(f"{results}/propose_mixes/{study}" for study in reads.studies),
                *(self._at(group, stage).mixes for group, stage in reads.stages),
            ],
            "choices": [
                path for step in reads.choices for path in self._at(*step).choices.values()
            ],
            "runs": [folder for name in trained for folder in self.all.swarm(name).trained],
        }

    def _at(self, group: str, stage: str) -> StageJobs:
        """The jobs of a group of chains at a stage."""
        updates = self.all.plan.groups[group]
        return self.all.stage(updates.groups[group].at(stage))
