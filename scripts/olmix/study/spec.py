"""The nouns of a study: spaces, mixes, swarms, proposals. Plain data, cheap to import.

Every question of the paper is the same flow with one choice varied, so all of them are described
with these few records: the plan is made of them, and jobs are told them as parameters.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "FixedMixSpec",
    "MixesSpec",
    "ProposalSpec",
    "Reads",
    "SpaceSpec",
    "StudySpec",
    "SwarmSpec",
    "as_params",
    "from_params",
    "job_sizes",
]


@dataclass(frozen=True)
class SpaceSpec:
    """What a mix is over: the domains of a stage, some of them frozen together (§4.2).

    ``split``: ``none`` (every domain has its weight) or ``sources`` (one weight per source, natural
    inside); ``largest`` keeps only the m largest domains, ``only`` those it names. ``frozen``
    domains keep their ratios to each other, those of the mix in the file ``existing``: together
    they have one weight.
    """

    stage: str = "initial"
    split: str = "none"
    largest: int | None = None
    only: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    existing: str | None = None


@dataclass(frozen=True)
class MixesSpec:
    """Mixes to sample (§3.3, RQ3).

    ``prior`` is a proposal (study, name) to centre on (natural if None); ``capped`` rejects mixes
    over the repetition caps; ``kind`` is a swarm distribution.
    """

    name: str
    space: SpaceSpec
    size: int
    kind: str = "sparse"
    prior: tuple[str, str] | None = None
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
    The method has no defaults: OlmixBase is what `config/methods/olmix_base.yaml` and the scale
    say (`Plan.olmix_base`).
    """

    name: str
    swarm: str
    regressor: str
    granularity: str
    proposer: str
    kl: float
    repetition: float | None
    runs: int | None = None
    seed: int = 0
    maximise: bool = False
    task_weights: Mapping[str, float] = field(default_factory=dict)  # 1 where none is said


@dataclass(frozen=True)
class FixedMixSpec:
    """A mix that needs no runs: ``natural``, ``uniform``, or one made of the mix before an update.

    Of the latter, ``kept`` is that mix on the domains that are still there, and ``reused`` the
    frozen ratios under the caps, where an update leaves nothing to recompute.
    """

    name: str
    kind: str
    space: SpaceSpec


@dataclass(frozen=True)
class StudySpec:
    """Proposals made together, in one job; ``fixed`` mixes stand beside them."""

    name: str
    proposals: tuple[ProposalSpec, ...]
    fixed: tuple[FixedMixSpec, ...] = ()

    @property
    def mixes(self) -> tuple[str, ...]:
        """The names of all the study's mixes."""
        return (*(p.name for p in self.proposals), *(mix.name for mix in self.fixed))

    @property
    def swarms(self) -> tuple[str, ...]:
        """The swarms that the study's proposals are made from, each once."""
        return tuple(dict.fromkeys(proposal.swarm for proposal in self.proposals))


@dataclass(frozen=True)
class Reads:
    """What a question's answer reads.

    Parameters
    ----------
    swarms, studies
        Swarms whose tables it reads, besides those of its studies, whose proposals it reads.
    stages
        (group, stage) of the chains whose mixes it reads.
    choices
        (group, stage) at which it reads what chains chose to recompute, where one of them probed.
    trained
        Swarms of which it also reads the runs themselves, where they are trained.
    answers
        Whether it reads what systems answered with.
    planned
        What it is told of the plan, as plain values: names of swarms by what they are to it, and
        whatever else was decided before anything ran.
    """

    swarms: Iterable[str] = ()
    studies: Iterable[str] = ()
    stages: Iterable[tuple[str, str]] = ()
    choices: Iterable[tuple[str, str]] = ()
    trained: Iterable[str] = ()
    answers: bool = False
    planned: Mapping[str, Any] = field(default_factory=dict)


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


def from_params(kind: type, params: Mapping[str, Any]) -> Any:
    """The record that `as_params` took apart."""
    values = dict(params)
    if "space" in values:
        values["space"] = from_params(SpaceSpec, values["space"])
    for name in ("prior", "strengths", "proposals", "curve", "frozen", "only"):
        if isinstance(values.get(name), list):
            values[name] = tuple(values[name])
    if kind is StudySpec:
        values["proposals"] = tuple(ProposalSpec(**entry) for entry in values["proposals"])
        values["fixed"] = tuple(from_params(FixedMixSpec, entry) for entry in values["fixed"])
    return kind(**values)
