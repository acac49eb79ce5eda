"""Mixing systems that are algorithms: a file of ``config/methods/`` each, with ``algorithm``.

What a system may say depends on the kind of its algorithm (`olmix.systems.kinds`): how many runs
its rounds have, what its run samples, which model it trains.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from olmix.config_files import check_keys, check_name, read_config
from olmix.cost.compute import run_size
from olmix.cost.methods import Spent
from olmix.errors import OlmixError
from olmix.study.scale import Scale
from olmix.systems import algorithm, lacks
from olmix.systems.kinds.fixed import Fixed
from olmix.systems.kinds.from_model import FromModel
from olmix.systems.kinds.rounds import Rounds, round_sizes
from olmix.systems.kinds.steering import MovingMix, MovingWeights, make_steering

__all__ = [
    "STARTS",
    "AnswerSpec",
    "RoundSpec",
    "SteeringSpec",
    "System",
    "as_system",
    "load_systems",
    "told_of",
]

#: The mixes that a run may begin with, or sample.
STARTS = ("natural", "uniform")

_ALL = ("label", "algorithm", "settings")
_PROXY = ("proxy_size", "starts_from", "repetition_constraint")
# kind of algorithm -> how a table calls it, and the keys that its files must, and may, have
_KINDS: dict[type, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    Fixed: ("no run", ("repetition_constraint",), ()),
    FromModel: ("one run", _PROXY, ()),
    MovingWeights: ("one or two runs", _PROXY, ("reference",)),
    Rounds: (
        "rounds",
        ("proxy_size", "runs_per_domain", "repetition_constraint"),
        ("cheaper_sizes",),
    ),
    MovingMix: ("online", ("starts_from",), ("proxy_size",)),
}


@dataclass(frozen=True)
class System:
    """A mixing system; `config/methods/doremi.yaml` and `climb.yaml` explain the keys."""

    name: str
    label: str
    algorithm: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    proxy_size: str | None = None
    cheaper_sizes: tuple[str, ...] = ()
    runs_per_domain: float | tuple[float, ...] = ()
    starts_from: str | None = None
    reference: str | None = None
    repetition_constraint: bool = False

    @property
    def kind(self) -> type:
        """The kind of the system's algorithm: a class of `olmix.systems.kinds`."""
        return _kind(self.algorithm)

    @property
    def way(self) -> str:
        """How the system comes to its mix, in a word or two."""
        return _KINDS[self.kind][0]

    @property
    def needs_training(self) -> bool:
        """Whether the system looks into runs, and not only at what they measured."""
        return self.kind in (FromModel, MovingWeights, MovingMix)

    @property
    def lacks(self) -> str:
        """What the system needs that is not installed; empty if nothing."""
        return lacks(self.algorithm)

    def too_short(self, scale: Scale, domains: int) -> str:
        """Why target runs of a scale have too few steps for it; empty if they have enough."""
        try:
            self.spends(scale, domains)
        except OlmixError as error:
            return f"longer target runs: {error}"
        return ""

    def round_sizes(self, domains: int, most_rounds: int | None) -> list[int]:
        """How many runs each of its rounds has at most."""
        return round_sizes(self.runs_per_domain, domains, most_rounds)

    def settings_at(self, scale: Scale) -> dict[str, Any]:
        """The settings of the system's algorithm, with no more rounds than the scale allows."""
        most, settings = scale["methods"]["most_rounds"], dict(self.settings)
        if most is not None and "rounds" in settings:
            settings["rounds"] = min(settings["rounds"], most)
        return settings

    def spends(self, scale: Scale, domains: int) -> list[Spent]:
        """What the system trains besides the target run, at most."""
        if self.kind is Rounds:
            runs = sum(self.round_sizes(domains, scale["methods"]["most_rounds"]))
            return [Spent(str(self.proxy_size), runs)]
        if self.kind is FromModel:
            return [Spent(str(self.proxy_size), 1)]
        if self.kind is MovingWeights:
            reference = [Spent(str(self.proxy_size), 1)] if self.reference else []
            return [
                *reference,
                Spent(str(self.proxy_size), 1, algorithm(self.algorithm).passes),
            ]
        return self._online(scale, domains) if self.kind is MovingMix else []

    def _online(self, scale: Scale, domains: int) -> list[Spent]:
        """Runs before the target's, and the losses it has measured on held-out sequences."""
        size, settings = run_size(scale.model("target")), self.settings_at(scale)
        before = [Spent(self.proxy_size, domains)] if self.proxy_size else []
        if self.proxy_size:
            settings["graph"] = np.eye(domains).tolist()
        moving = make_steering(self.algorithm, settings, np.full(domains, 1 / domains), size.steps)
        assert isinstance(moving, MovingMix)
        measured = (len(moving.ends) - 1) * moving.held_out * domains * size.sequence_length
        # A forward pass is a third of training.
        held_out = [Spent("target", measured / size.tokens, 1 / 3)] if measured else []
        return [*before, *held_out]


@dataclass(frozen=True)
class RoundSpec:
    """A round of a system: at most ``size`` runs, asked for from those of the rounds before.

    ``step`` is the group of chains at a stage of updates that it is for, by the name of both; empty
    for a round over the initial domains.
    """

    name: str
    system: str
    size: int
    number: int
    before: tuple[str, ...]
    step: str = ""


@dataclass(frozen=True)
class SteeringSpec:
    """What moves the mix, or the weights of domains, in a swarm's runs.

    ``reference`` is the swarm of the run that losses are compared with, and ``single`` that of one
    run per domain, from which a graph is measured, where the algorithm needs one.
    """

    system: str
    reference: str | None = None
    single: str | None = None


@dataclass(frozen=True)
class AnswerSpec:
    """The static mix that a system answers with, from the runs of ``swarms``."""

    name: str
    system: str
    swarms: tuple[str, ...] = ()


def load_systems(folder: str | Path) -> dict[str, System]:
    """Every system of a folder, by name; a key or value nobody knows is refused."""
    found = {path: read_config(path) for path in sorted(Path(folder).glob("*.yaml"))}
    return {
        path.stem: _load_system(path, content)
        for path, content in found.items()
        if "algorithm" in content
    }


def _kind(name: str) -> type:
    return next(kind for kind in _KINDS if issubclass(algorithm(name), kind))


def _load_system(path: Path, content: dict[str, Any]) -> System:
    check_name(path.stem, str(path))
    try:
        _, required, optional = _KINDS[_kind(content["algorithm"])]
    except OlmixError as error:
        raise OlmixError(f"{path}: {error}") from None
    check_keys(
        content,
        (*_ALL, *required, *optional),
        ("label", "algorithm", *required),
        where=str(path),
    )
    for key in ("starts_from", "reference"):
        if content.get(key, STARTS[0]) not in STARTS:
            raise OlmixError(
                f"{path}: {key} is {content[key]!r}, expected one of {', '.join(STARTS)}"
            )
    if not isinstance(content.get("repetition_constraint", False), bool):
        raise OlmixError(
            f"{path}: repetition_constraint is {content['repetition_constraint']!r}, "
            "expected true or false"
        )
    _check_runs(content, path)
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in content.items()
    }
    return System(path.stem, **values)


def _check_runs(content: dict[str, Any], path: Path) -> None:
    """Runs per domain are a positive number, or one for each round."""
    if "runs_per_domain" not in content:
        return
    value = content["runs_per_domain"]
    for each in value if isinstance(value, list) and value else [value]:
        if type(each) not in (int, float) or not 0 < each < 1e6:
            raise OlmixError(
                f"{path}: runs_per_domain is {value!r}, expected a positive number or a list"
            )


def as_system(params: Mapping[str, Any]) -> System:
    """The system whose record a job was told."""
    values = dict(params)
    for key in ("cheaper_sizes", "runs_per_domain"):
        if isinstance(values[key], list):
            values[key] = tuple(values[key])
    return System(**values)


def told_of(system: System) -> dict[str, Any]:
    """A system as plain values, for job parameters."""
    return asdict(system)
