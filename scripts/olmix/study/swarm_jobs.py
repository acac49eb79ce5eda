"""What the jobs of a swarm read and are told, from sampling its mixes to collecting its runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from olmix.cost.compute import JobRequest, Machine, RunCost
from olmix.provenance.progress import PROXIES, TARGETS, Training
from olmix.study.plan import TARGET
from olmix.study.scale import Scale
from olmix.study.spec import MixesSpec, SpaceSpec, SwarmSpec, job_sizes
from olmix.study.update_plan import UpdatePlan
from olmix.updates.sequence import INITIAL

__all__ = ["MixesJob", "SwarmJobs", "both_tables"]

# Settings of a model that say what its jobs ask for, and nothing about the result.
_HARDWARE = ("threads", "gpu", "nodes", "processes_per_node", "sharding")


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


def both_tables(swarms: Iterable[SwarmJobs]) -> dict[str, list[str]]:
    """What was mixed and what was measured of collected swarms, as a job's inputs."""
    swarms = list(swarms)
    return {
        "ratios": [swarm.ratios for swarm in swarms],
        "metrics": [swarm.metrics for swarm in swarms],
    }
