"""The nouns of a study: spaces, mixes, swarms, proposals. Plain data, cheap to import.

Every question of the paper is the same flow with one choice varied, so all of them are described
with these few records. The workflow reads them to know which files depend on which; the scripts
read them (as job parameters) to know what to do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from olmix.errors import OlmixError

__all__ = [
    "MixesSpec",
    "Plan",
    "ProposalSpec",
    "SpaceSpec",
    "StudySpec",
    "SwarmSpec",
    "as_params",
    "from_params",
    "job_sizes",
    "repeat_name",
]


@dataclass(frozen=True)
class SpaceSpec:
    """What a mix is over: the domains of a stage, some of them frozen together (§4.2).

    ``split``: ``none`` (every domain has its weight) or ``sources`` (one weight per source, natural
    inside); ``largest`` keeps only the m largest domains.
    """

    stage: str = "initial"
    split: str = "none"
    largest: int | None = None


@dataclass(frozen=True)
class MixesSpec:
    """Mixes to sample (§3.3, RQ3).

    ``prior`` is a proposal ``study/name`` to centre on (natural if None); ``capped`` rejects mixes
    over the repetition caps; ``kind`` is a swarm distribution.
    """

    name: str
    space: SpaceSpec
    size: int
    kind: str = "sparse"
    prior: str | None = None
    capped: bool = False
    seed: int = 0
    strengths: tuple[float, float] | None = None


@dataclass(frozen=True)
class SwarmSpec:
    """Runs of one model on a list of mixes: sampled ones, or proposals.

    ``mixes`` names the table of mixes and ``made_by`` the rule that writes it. ``proposals`` lists
    which rows of it to train (all if empty). ``stage`` is whose domains the table is over, where
    that is not said by a `MixesSpec`.
    """

    name: str
    mixes: str
    model: str
    size: int
    proposals: tuple[str, ...] = ()
    curve: tuple[str, ...] = ()  # runs that are also scored along training
    seed: int = 0
    made_by: str = "sample_swarm"
    stage: str | None = None


@dataclass(frozen=True)
class ProposalSpec:
    """A mix to propose from a swarm: which runs, which method, which request.

    ``runs`` of the swarm drawn with ``seed`` (all if None). ``repetition`` None enforces no caps.
    """

    name: str
    swarm: str
    runs: int | None = None
    seed: int = 0
    regressor: str = "log_linear"
    granularity: str = "task"
    proposer: str = "exact"
    kl: float = 0.05
    repetition: float | None = 4.0
    maximise: bool = False


@dataclass(frozen=True)
class StudySpec:
    """Proposals made together, in one job."""

    name: str
    proposals: tuple[ProposalSpec, ...]

    @property
    def swarms(self) -> tuple[str, ...]:
        """The swarms it reads, each once."""
        return tuple(dict.fromkeys(proposal.swarm for proposal in self.proposals))


@dataclass
class Plan:
    """Everything that is sampled, trained and proposed, by name."""

    mixes: dict[str, MixesSpec] = field(default_factory=dict)
    swarms: dict[str, SwarmSpec] = field(default_factory=dict)
    studies: dict[str, StudySpec] = field(default_factory=dict)
    #: question -> the swarms whose tables its analysis reads, besides those of its studies
    reads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: question -> its studies
    asks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: mixes, swarm or group of chains -> its updates file, where it is not the scale's own
    update_files: dict[str, str] = field(default_factory=dict)
    #: swarm -> the swarms its mixes come from, where neither a study nor a prior says so
    after: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def sample(self, spec: MixesSpec, model: str) -> str:
        """Add sampled mixes and a swarm of the same name trained on them; shared if already there.

        Two questions may ask for the same swarm; asking for another one under its name is a bug.
        """
        _put(self.mixes, spec.name, spec)
        swarm = SwarmSpec(spec.name, spec.name, model, spec.size, seed=spec.seed)
        _put(self.swarms, spec.name, swarm)
        return spec.name

    def train_on(self, mixes: str, model: str, name: str) -> str:
        """Add a swarm of another model on sampled mixes in the plan, with their data seeds."""
        spec = self.mixes[mixes]
        _put(self.swarms, name, SwarmSpec(name, mixes, model, spec.size, seed=spec.seed))
        return name

    def propose(self, study: str, proposals: Iterable[ProposalSpec]) -> StudySpec:
        """Add a study."""
        spec = StudySpec(study, tuple(proposals))
        names = [proposal.name for proposal in spec.proposals]
        if len(set(names)) < len(names):
            raise OlmixError(f"study '{study}': two proposals have the same name")
        _put(self.studies, study, spec)
        return spec

    def train_proposals(
        self,
        study: str,
        model: str,
        name: str,
        only: Iterable[str] | None = None,
        *,
        repeats: int = 1,
    ) -> list[str]:
        """Add the runs of a model on a study's proposals (or some of them).

        Each is repeated with another data order, as a swarm of its own; see `repeat_name`.
        """
        names = (
            tuple(p.name for p in self.studies[study].proposals) if only is None else tuple(only)
        )
        swarms = [repeat_name(name, repeat) for repeat in range(repeats)]
        for seed, swarm in enumerate(swarms):
            spec = SwarmSpec(
                swarm, study, model, len(names), names, seed=seed, made_by="propose_mixes",
                stage="final",
            )  # fmt: skip
            _put(self.swarms, swarm, spec)
        return swarms

    def question(self, name: str, *, studies: Iterable[str], swarms: Iterable[str]) -> None:
        """Say what a question's analysis reads."""
        _put(self.asks, name, tuple(studies))
        _put(self.reads, name, tuple(dict.fromkeys(swarms)))

    def needed_swarms(self, question: str) -> set[str]:
        """Every swarm a question depends on, through its proposals and their priors."""
        needed: set[str] = set()
        waiting = list(self.reads[question])
        waiting += [s for study in self.asks[question] for s in self.studies[study].swarms]
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
        if swarm.made_by == "sample_swarm" and self.mixes[swarm.mixes].prior:
            study = self.mixes[swarm.mixes].prior.split("/")[0]
        studied = self.studies[study].swarms if study else ()
        return (*studied, *self.after.get(name, ()))


def repeat_name(swarm: str, repeat: int) -> str:
    """The name of a swarm's repetition; the first is the swarm itself."""
    return f"{swarm}-repeat{repeat}" if repeat else swarm


def _put(table: dict[str, Any], name: str, value: Any) -> None:
    if table.setdefault(name, value) != value:
        raise OlmixError(f"plan: '{name}' is asked for twice, differently")


def job_sizes(runs: int, model: Mapping[str, Any]) -> list[int]:
    """How many runs each job of a swarm of a scale's model has, as even as can be.

    As few jobs as ``runs_per_job`` allows, but a multiple of ``jobs_at_once`` where the model says
    so: then no core waits for the last job of a swarm.
    """
    together = model.get("jobs_at_once", 1)
    jobs = -(-runs // (model["runs_per_job"] * together)) * together
    each, more = divmod(runs, min(jobs, runs))
    return [each + (job < more) for job in range(min(jobs, runs))]


def as_params(spec: Any) -> dict[str, Any]:
    """A record as plain values, for job parameters."""
    return asdict(spec)


def from_params(kind: type, params: dict[str, Any]) -> Any:
    """The record that `as_params` took apart."""
    values = dict(params)
    if kind is MixesSpec:
        values["space"] = SpaceSpec(**values["space"])
    for name in ("strengths", "proposals", "curve"):
        if isinstance(values.get(name), list):
            values[name] = tuple(values[name])
    if kind is StudySpec:
        values["proposals"] = tuple(ProposalSpec(**entry) for entry in values["proposals"])
    return kind(**values)
