"""What makes a run: the science that its hash covers, and the hardware that it does not."""

import math
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import content_hash
from olmix.mix import Mix
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape

__all__ = ["Hardware", "RunSettings", "data_fingerprint", "whole_batches"]


def whole_batches(tokens: int, sequence_length: int, batch_size: int) -> int:
    """``tokens`` rounded up to whole batches, as a run needs; at least one token is expected."""
    if tokens < 1:
        raise OlmixError(f"a run of {tokens} tokens; expected at least one")
    per_step = sequence_length * batch_size
    return -(-tokens // per_step) * per_step


def data_fingerprint(corpus: Corpus, mix: dict[str, float]) -> str:
    """A hash of the tokenised domains that have weight in ``mix``.

    Domains a run never reads are left out, so that adding one to a corpus makes no run stale.
    """
    return content_hash({name: corpus[name].manifest for name in sorted(mix) if mix[name] > 0})


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides a run's final weights, and its hash.

    ``corpus`` is the `data_fingerprint` and ``tokenizer`` the SHA-256 of what it is trained on.
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

    def __post_init__(self) -> None:
        """Check every value, and bring the mix to one form so that equal mixes hash the same.

        That form is normalised, sorted by name and without zeros.
        """
        weights = Mix.from_dict(self.mix).to_dict()
        kept = {name: weights[name] for name in sorted(weights) if weights[name] > 0}
        object.__setattr__(self, "mix", kept)
        object.__setattr__(self, "evaluate_at", tuple(self.evaluate_at))
        self._check_numbers()
        self._check_lengths()

    def _check_numbers(self) -> None:
        positive = ("tokens", "sequence_length", "batch_size", "learning_rate", "adam_eps")
        positive += ("grad_clip", "max_repetition")
        for name in positive:
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
        if self.warmup_steps >= self.steps and self.warmup_steps > 0:
            raise OlmixError(
                f"run settings: warmup_steps is {self.warmup_steps} in a run of {self.steps} steps"
            )

    @property
    def steps(self) -> int:
        """Optimiser steps of the run."""
        return self.tokens // (self.sequence_length * self.batch_size)

    @cached_property
    def hash(self) -> str:
        """The fingerprint under which checkpoints and finished runs are recognised."""
        return content_hash(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able record of the settings."""
        return asdict(self) | {"evaluate_at": list(self.evaluate_at)}

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
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise OlmixError(f"run settings: missing or malformed ({error})") from None


@dataclass(frozen=True)
class Hardware:
    """Where and how a run is computed: nothing here is meant to change its result.

    ``micro_batch`` sequences go through the model at a time in each process (all if None).
    ``sharded`` spreads the weights over the processes (FSDP2) instead of copying them (DDP).
    bfloat16 and `torch.compile` are for GPUs and on there by default.
    A checkpoint is written every ``checkpoint_seconds``, and every ``checkpoint_steps`` if given.
    """

    device: str = "auto"
    precision: str = "auto"
    compile: bool | None = None
    micro_batch: int | None = None
    sharded: bool = False
    checkpoint_seconds: float = 600.0
    checkpoint_steps: int | None = None

    def __post_init__(self) -> None:
        """Refuse unknown precisions and sizes below one."""
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise OlmixError(
                f"precision is {self.precision!r}; expected 'auto', 'float32' or 'bfloat16'"
            )
        for name in ("micro_batch", "checkpoint_steps"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise OlmixError(f"{name} is {value}; expected at least 1")
        if not self.checkpoint_seconds > 0:
            raise OlmixError(f"checkpoint_seconds is {self.checkpoint_seconds}; expected above 0")
