"""What makes a run: the science that its hash covers, and the hardware that it does not."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import content_hash
from olmix.mix import Mix
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.training.sharding import SHARDINGS

__all__ = [
    "Hardware",
    "MixChange",
    "RunSettings",
    "SteeringSettings",
    "data_fingerprint",
    "whole_batches",
]


def whole_batches(tokens: int, sequence_length: int, batch_size: int) -> int:
    """``tokens`` rounded up to whole batches, as a run needs; at least one token is expected."""
    if tokens < 1:
        raise OlmixError(f"a run of {tokens} tokens; expected at least one")
    per_step = sequence_length * batch_size
    return -(-tokens // per_step) * per_step


def data_fingerprint(corpus: Corpus, *mixes: Mapping[str, float]) -> str:
    """A hash of the tokenised domains that have weight in one of a run's mixes.

    Domains a run never reads are left out, so that adding one to a corpus makes no run stale.
    """
    names = {name for mix in mixes for name, weight in mix.items() if weight > 0}
    return content_hash({name: corpus[name].manifest for name in sorted(names)})


class MixChange(NamedTuple):
    """Another mix from a fraction of training on."""

    at: float
    mix: dict[str, float]


@dataclass(frozen=True)
class SteeringSettings:
    """An algorithm of `olmix.systems` that moves a run's mix, or its domains' weights.

    ``reference`` is the hash of the run whose losses it compares with, if it does.
    """

    algorithm: str
    settings: dict[str, Any] = field(default_factory=dict)
    reference: str | None = None


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides a run's final weights, and its hash.

    ``corpus`` is the `data_fingerprint` and ``tokenizer`` the SHA-256 of what it is trained on.
    ``mix`` is what training begins with, ``schedule`` what comes after it, or ``steering`` what
    decides that. ``data_share`` is the share of each domain that is there to be read: proxy tokens
    over target tokens make a proxy repeat what the target will. ``linear_decay`` is the last part
    of the steps, over which the learning rate leaves its cosine and falls linearly to nothing.
    Defaults are OLMo 2's; the paper gives learning rates, batches and lengths only.
    """

    model: ModelShape
    mix: dict[str, float]
    tokens: int
    sequence_length: int
    batch_size: int
    learning_rate: float
    corpus: str
    tokenizer: str
    init: Init = field(default_factory=Init)
    warmup_steps: int = 0
    final_lr_fraction: float = 0.1
    weight_decay: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    adam_eps: float = 1e-8
    grad_clip: float = 1.0
    z_loss: float = 1e-5
    data_seed: int = 0
    max_repetition: float = 4.0
    evaluate_at: tuple[float, ...] = ()
    schedule: tuple[MixChange, ...] = ()
    data_share: float = 1.0
    linear_decay: float = 0.0
    steering: SteeringSettings | None = None

    def __post_init__(self) -> None:
        """Check every value, and bring mixes to one form so that equal mixes hash the same."""
        object.__setattr__(self, "mix", _one_form(self.mix))
        changes = tuple(MixChange(change[0], _one_form(change[1])) for change in self.schedule)
        object.__setattr__(self, "schedule", changes)
        object.__setattr__(self, "evaluate_at", tuple(self.evaluate_at))
        self._check_numbers()
        self._check_lengths()
        self._check_schedule()

    def _check_numbers(self) -> None:
        for name in (
            "tokens", "sequence_length", "batch_size", "learning_rate", "adam_eps", "grad_clip",
            "max_repetition",
        ):  # fmt: skip
            if not (math.isfinite(value := getattr(self, name)) and value > 0):
                raise OlmixError(f"run settings: {name} is {value}, expected a positive number")
        for name in ("warmup_steps", "final_lr_fraction", "weight_decay", "z_loss"):
            if not (math.isfinite(value := getattr(self, name)) and value >= 0):
                raise OlmixError(f"run settings: {name} is {value}, expected at least 0")
        for name in ("beta1", "beta2"):
            if not 0 <= (value := getattr(self, name)) < 1:
                raise OlmixError(f"run settings: {name} is {value}, expected within [0, 1)")
        for fraction in self.evaluate_at:
            if not 0 < fraction <= 1:
                raise OlmixError(
                    f"run settings: evaluate_at has {fraction}, expected fractions within (0, 1]"
                )
        if not 0 <= self.linear_decay < 1:
            raise OlmixError(f"run settings: linear_decay is {self.linear_decay}, expected [0, 1)")
        if not 0 < self.data_share <= 1:
            raise OlmixError(f"run settings: data_share is {self.data_share}, expected (0, 1]")

    def _check_lengths(self) -> None:
        if not 2 <= self.sequence_length <= self.model.context_length:
            raise OlmixError(
                f"run settings: sequence_length is {self.sequence_length}, expected 2 to "
                f"{self.model.context_length}, the context of shape {self.model.name!r}"
            )
        per_step = self.sequence_length * self.batch_size
        if self.tokens % per_step:
            raise OlmixError(
                f"run settings: {self.tokens} tokens are not whole batches of {per_step}; "
                f"the next whole number is {-(-self.tokens // per_step) * per_step}"
            )
        rising, falling = self.warmup_steps, self.decay_steps
        if rising + falling >= self.steps and rising + falling > 0:
            decay = f", of which {falling} are of the linear decay" if falling else ""
            raise OlmixError(
                f"run settings: warmup_steps is {rising} in a run of {self.steps} steps{decay}"
            )

    def _check_schedule(self) -> None:
        if self.schedule and self.steering:
            raise OlmixError("run settings: a schedule and steering; expected one of them")
        for change in self.schedule:
            if not 0 < change.at < 1:
                raise OlmixError(
                    f"run settings: the mix changes at {change.at}, expected within (0, 1)"
                )
        steps = [0, *self.changes, self.steps]
        for index, (before, after) in enumerate(pairwise(steps)):
            if before >= after:
                raise OlmixError(
                    f"run settings: change {index} of the mix comes at step {before} of "
                    f"{self.steps}, the next one or the end at {after}; expected a later step"
                )

    @property
    def steps(self) -> int:
        """Optimiser steps of the run."""
        return self.tokens // (self.sequence_length * self.batch_size)

    @property
    def decay_steps(self) -> int:
        """Steps of the linear decay at the end."""
        return round(self.linear_decay * self.steps)

    @property
    def changes(self) -> list[int]:
        """The steps before which the mix changes."""
        return [round(change.at * self.steps) for change in self.schedule]

    @property
    def mixes(self) -> list[dict[str, float]]:
        """The mixes of the run, one after another."""
        return [self.mix, *(change.mix for change in self.schedule)]

    @cached_property
    def hash(self) -> str:
        """The fingerprint under which checkpoints and finished runs are recognised."""
        return content_hash(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able record of the settings.

        What was added to the settings later is left out where a run does not use it: its hash, by
        which finished runs are recognised, stays what it was.
        """
        record = asdict(self) | {"evaluate_at": list(self.evaluate_at)}
        record["schedule"] = [{"at": at, "mix": mix} for at, mix in self.schedule]
        unused = {"schedule": [], "data_share": 1.0, "linear_decay": 0.0, "steering": None}
        return {key: v for key, v in record.items() if key not in unused or unused[key] != v}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "RunSettings":
        """The settings written by `to_dict`; unknown or missing names are refused."""
        try:
            unknown = set(record) - {entry.name for entry in fields(cls)}
            if unknown:
                raise OlmixError(f"run settings: unknown setting {sorted(unknown)[0]!r}")
            values = dict(record) | {"model": ModelShape.from_dict(record["model"])}
            if "init" in record:
                values["init"] = Init(**record["init"])
            changes = record.get("schedule", [])
            values["schedule"] = tuple(MixChange(**change) for change in changes)
            if "steering" in record:
                values["steering"] = SteeringSettings(**record["steering"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise OlmixError(f"run settings: missing or malformed ({error})") from None


def _one_form(mix: Mapping[str, float]) -> dict[str, float]:
    """A mix normalised, sorted by name and without zeros."""
    weights = Mix.from_dict(mix).to_dict()
    return {name: weights[name] for name in sorted(weights) if weights[name] > 0}


@dataclass(frozen=True)
class Hardware:
    """Where and how a run is computed: nothing here is meant to change its result.

    ``micro_batch`` sequences go through the model at a time in each process (all if None).
    ``sharding`` is how several processes share the weights (`olmix.training.sharding`).
    bfloat16 and `torch.compile` are for GPUs and on there by default.
    A checkpoint is written every ``checkpoint_seconds``, and every ``checkpoint_steps`` if given.
    Every ``pause_steps`` steps processes and GPUs wait for one another, to read losses and to
    agree on checkpoints: 20 on a GPU, which would stand still meanwhile, else 1.
    """

    device: str = "auto"
    precision: str = "auto"
    compile: bool | None = None
    micro_batch: int | None = None
    sharding: str = "none"
    checkpoint_seconds: float = 600.0
    checkpoint_steps: int | None = None
    pause_steps: int | None = None

    def __post_init__(self) -> None:
        """Refuse unknown precisions and sizes below one."""
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise OlmixError(
                f"precision is {self.precision!r}; expected 'auto', 'float32' or 'bfloat16'"
            )
        if self.sharding not in SHARDINGS:
            raise OlmixError(
                f"sharding is {self.sharding!r}; expected one of {', '.join(SHARDINGS)}"
            )
        for name in ("micro_batch", "checkpoint_steps", "pause_steps"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise OlmixError(f"{name} is {value}; expected at least 1")
        if not self.checkpoint_seconds > 0:
            raise OlmixError(f"checkpoint_seconds is {self.checkpoint_seconds}; expected above 0")
