"""What the jobs of the systems read and are told: rounds, graphs, answers, steered runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olmix.cost.methods import Spent, method_cost
from olmix.study.plan import TOPICS
from olmix.study.spec import as_params
from olmix.study.system_plan import ANSWERS
from olmix.study.systems import RoundSpec, System, told_of
from olmix.systems.kinds.rounds import Rounds

if TYPE_CHECKING:
    from olmix.study.jobs import Jobs
    from olmix.study.stage_jobs import StageJobs
    from olmix.study.swarm_jobs import SwarmJobs

__all__ = [
    "AnswersJob",
    "RoundJob",
    "SingleRunsJob",
    "learns_from",
    "rounds_input",
    "system_params",
    "training_of",
]


def training_of(jobs: "Jobs", swarm: str) -> dict[str, Any]:
    """How a swarm's runs are trained where it is not as any other; nothing for most."""
    plan, found = jobs.plan, dict[str, Any]()
    if swarm in plan.shares:
        # Its runs repeat domains on purpose.
        found |= {"data_share": plan.shares[swarm], "max_repetition": 1e9}
    if swarm in plan.steering:
        system = plan.systems[plan.steering[swarm].system]
        settings = system.settings_at(plan.scale)
        found["steering"] = {"algorithm": system.algorithm, "settings": settings}
    if swarm in plan.rounds:
        system = plan.systems[plan.rounds[swarm].system]
        found["models"] = {name: plan.scale.model(name) for name in system.cheaper_sizes}
    return found


def learns_from(jobs: "Jobs", swarm: str) -> dict[str, str]:
    """The files that say how a swarm is trained: a reference run, a graph, what a round asked."""
    plan = jobs.plan
    if swarm in plan.rounds:
        return {"asked": jobs.round(swarm).asked}
    steering = plan.steering.get(swarm)
    if steering is None:
        return {}
    found = {}
    if steering.reference:
        (found["reference"],) = jobs.swarm(steering.reference).trained
    if steering.single:
        found["graph"] = jobs.single_runs(steering.single).graph
    return found


@dataclass(frozen=True)
class RoundJob:
    """What the job that asks for a round's runs reads and is told."""

    all: "Jobs"
    spec: RoundSpec

    @property
    def mixes(self) -> str:
        """The table of the mixes asked for."""
        return f"{self.all.results}/ask_round/{self.spec.name}.csv"

    @property
    def asked(self) -> str:
        """What else is asked: the model of each run, and why."""
        return f"{self.all.results}/ask_round/{self.spec.name}.json"

    @property
    def input(self) -> dict[str, Any]:
        """What the rounds before asked and measured, and the mixes of the stage before."""
        previous = self._stage.previous if self._stage else {}
        return rounds_input(self.all, self.spec.before) | previous

    @property
    def told(self) -> dict[str, Any]:
        """The system, models and their costs, and the method to fit by."""
        return system_params(self.all, self.all.plan.systems[self.spec.system])

    @property
    def stage(self) -> str:
        """The stage whose domains the job's mixes are over."""
        return self._stage.stage if self._stage else TOPICS.stage

    @property
    def chains(self) -> list[tuple[dict[str, Any], int]]:
        """The chains of updates that the job is for, with their runs; none for a whole method."""
        return self._stage.asked(self.spec.number) if self._stage else []

    @property
    def request(self) -> dict[str, Any]:
        """What is asked of the mix: k, R and the weight of the KL term."""
        return self._stage.request if self._stage else self.all.answers.request

    @property
    def updates(self) -> str:
        """The updates file that says what the domains are."""
        return (self._stage.updates if self._stage else self.all.plan.updates).file

    @property
    def rerun_when(self) -> str:
        """A fingerprint of the domains that its mixes are over, with the stages before."""
        return self._stage.rerun_when if self._stage else self.all.answers.rerun_when

    @property
    def _stage(self) -> "StageJobs | None":
        return self.all.stage(self.spec.step) if self.spec.step else None


@dataclass(frozen=True)
class SingleRunsJob:
    """What the job that measures a graph on one run per domain reads and writes."""

    all: "Jobs"
    swarm: str

    @property
    def graph(self) -> str:
        """The file of the graph."""
        return f"{self.all.results}/measure_graph/{self.swarm}.json"

    @property
    def runs(self) -> list[str]:
        """The folders of the trained runs."""
        return self.all.swarm(self.swarm).trained


@dataclass(frozen=True)
class AnswersJob:
    """What the job that writes down the systems' answers reads and is told."""

    all: "Jobs"

    @property
    def folder(self) -> str:
        """The folder of the answers."""
        return f"{self.all.results}/propose_systems/{ANSWERS}"

    @property
    def input(self) -> dict[str, list[str]]:
        """What rounds asked and measured, and the runs that systems look into."""
        plan = self.all.plan
        swarms = dict.fromkeys(s for answer in plan.answers.values() for s in answer.swarms)
        runs = [folder for s in swarms if s not in plan.rounds for folder in self._trained(s)]
        found = rounds_input(self.all, [s for s in swarms if s in plan.rounds])
        return found | ({"runs": runs} if runs else {})

    def _trained(self, swarm: str) -> list[str]:
        return self.all.swarm(swarm).trained

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Each answer with its system, and what the system is told."""
        plan, rows = self.all.plan, []
        for answer in plan.answers.values():
            system = plan.systems[answer.system]
            rows.append(as_params(answer) | {"told": system_params(self.all, system)})
        return rows

    @property
    def rounds(self) -> list[str]:
        """The swarms that are rounds, in the order of their tables among the inputs."""
        plan = self.all.plan
        swarms = dict.fromkeys(s for answer in plan.answers.values() for s in answer.swarms)
        return [swarm for swarm in swarms if swarm in plan.rounds]

    @property
    def rerun_when(self) -> str:
        """A fingerprint of the domains that the answers are over."""
        return self.all.plan.updates.domain_prints[TOPICS.stage]

    @property
    def request(self) -> dict[str, float]:
        """What is asked of every answer: the caps' k and R, and the weight of the KL term."""
        scale = self.all.plan.scale
        return {
            "kl": scale["kl"],
            "repetition": scale["repetition"],
            "requested": scale["requested_tokens"]["tight"],
        }


def rounds_input(jobs: "Jobs", swarms: Any) -> dict[str, list[str]]:
    """What some rounds asked and measured, as a job's inputs; nothing where there is none."""
    if not swarms:
        return {}
    found: list[SwarmJobs] = [jobs.swarm(swarm) for swarm in swarms]
    return {
        "asked": [jobs.round(swarm).asked for swarm in swarms],
        "ratios": [swarm.ratios for swarm in found],
        "metrics": [swarm.metrics for swarm in found],
    }


def system_params(jobs: "Jobs", system: System) -> dict[str, Any]:
    """A system as plain values; one in rounds is also told what runs cost, and how to fit them."""
    found: dict[str, Any] = {"system": told_of(system)}
    if system.kind is Rounds:
        found |= {"models": _model_costs(jobs, system), "method": jobs.method}
    return found


def _model_costs(jobs: "Jobs", system: System) -> Mapping[str, float]:
    """The models that a system may train, cheapest first, with their cost in runs of the last."""
    names = [*system.cheaper_sizes, str(system.proxy_size)]
    costs = [method_cost([Spent(name, 1)], jobs.plan.scale).proxy_runs for name in names]
    return {name: cost / costs[-1] for name, cost in zip(names, costs, strict=True)}
