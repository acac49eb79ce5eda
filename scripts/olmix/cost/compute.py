"""What a run costs and what its job asks for, from the model's shape, its tokens and the hardware.

FLOPs of a run of D tokens in sequences of T:

    (6·(N + V·d) + 6·L·T·d)·D

N parameters outside both vocabulary matrices, V·d of the output layer (the input embedding is a
look-up), and L layers of causal attention of width d, each position looking at T/2 others on
average. Backward counts twice forward; what is computed twice to save memory is not counted.

Seconds of a run on G devices: FLOPs / (G · peak · utilisation) + steps · step_seconds, or, where
`snakemake preflight` has measured the model, steps · the seconds that its steps took.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

from olmix.errors import OlmixError
from olmix.model.logits import loss_memory
from olmix.model.shapes import ModelShape, shape
from olmix.training.presets import preset
from olmix.training.settings import whole_batches
from olmix.training.sharding import GRADIENT_BYTES, shards_of

__all__ = ["JobRequest", "Machine", "RunCost", "RunSize", "run_size", "training_flops"]

STATE_BYTES = 16
"""Bytes per parameter: weight, gradient and two moments of AdamW, in float32."""

COPY_BYTES = 2
"""Bytes per parameter of the bfloat16 copies that matrix products read on a GPU."""

CHECKPOINT_BYTES = 24
"""Bytes per parameter on the host while a checkpoint is written: weight and moments, twice."""


@dataclass(frozen=True)
class Machine:
    """The ``hardware`` of a scale; config/scales/tiny.yaml explains every key."""

    device: str
    peak_tflops: float
    utilisation: float
    step_seconds: float
    evaluation_minutes: float
    safety: float
    spare_minutes: float
    longest_job: int
    process_mb: int
    device_gb: float
    devices: int
    checkpoint_minutes: float = 10.0
    measured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What `snakemake preflight` has measured of models (`olmix.cost.measured`)."""

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Machine":
        """The hardware from the table of a scale file."""
        for entry in fields(cls):
            needed = entry.default is MISSING and entry.default_factory is MISSING
            if needed and entry.name not in record:
                raise OlmixError(f"hardware: key '{entry.name}' is missing")
        known = [entry.name for entry in fields(cls) if entry.name in record]
        return cls(**{name: record[name] for name in known})

    @property
    def flops_per_second(self) -> float:
        """FLOPs that one device really does in a second: its peak times the utilisation."""
        return self.peak_tflops * 1e12 * self.utilisation

    @property
    def unit(self) -> str:
        """What one device is called in a report."""
        return "core" if self.device == "cpu" else "GPU"


class RunSize(NamedTuple):
    """How much a run trains on."""

    tokens: int
    sequence_length: int
    batch_size: int

    @property
    def steps(self) -> int:
        """How many optimiser steps the run takes."""
        return self.tokens // (self.sequence_length * self.batch_size)


class JobRequest(NamedTuple):
    """What a job asks for: minutes, memory of each node, and sequences a device holds at once."""

    runtime: int
    mem_mb: int
    micro_batch: int


def run_size(model: Mapping[str, Any]) -> RunSize:
    """The size of a run of a scale's model: its preset, as the scale overrides it."""
    base = preset(model["shape"])
    length = model.get("sequence_length", base.sequence_length)
    batch = model.get("batch_size", base.batch_size)
    tokens = whole_batches(int(model.get("tokens", base.tokens)), length, batch)
    return RunSize(tokens, length, batch)


def training_flops(shape: ModelShape, tokens: int, sequence_length: int) -> float:
    """FLOPs of training on ``tokens`` tokens; the formula is at the top of this file."""
    matrices = 6 * (shape.non_embedding_parameters + shape.embedding_parameters)
    attention = 6 * shape.n_layers * sequence_length * shape.d_model
    return float(matrices + attention) * tokens


def activation_bytes(shape: ModelShape) -> int:
    """Bytes that one token leaves behind for the backward pass, on a GPU with bfloat16.

    Per layer: 36 per unit of width (residual stream and norms in float32; queries, keys, values and
    the inputs of matrix products in bfloat16) and 8 per hidden unit of the MLP (gate, its sigmoid
    linear unit, up, their product). A test counts what autograd really keeps.
    """
    return shape.n_layers * (36 * shape.d_model + 8 * shape.mlp_hidden)


@dataclass(frozen=True)
class RunCost:
    """One run of a model of a scale on its hardware."""

    name: str
    model: Mapping[str, Any]
    machine: Machine

    @cached_property
    def shape(self) -> ModelShape:
        """The model's shape; tiny ones have the scale's vocabulary here, or their default."""
        return shape(self.model["shape"], self.model.get("vocabulary"))

    @cached_property
    def size(self) -> RunSize:
        """How much the run trains on: tokens, sequence length and batch."""
        return run_size(self.model)

    @property
    def devices(self) -> int:
        """GPUs that a run takes, or the one core it runs on."""
        return max(1, self.model["gpu"])

    @cached_property
    def measured(self) -> Mapping[str, Any] | None:
        """What was measured of this model, if it was then what it is now."""
        found = self.machine.measured.get(self.name)
        return found if found is not None and found["of"] == self.subject else None

    @property
    def subject(self) -> list[Any]:
        """What a measurement of the model is about."""
        return [
            self.model["shape"],
            self.size.sequence_length,
            self.size.batch_size,
            self.processes,
            self.model.get("nodes", 1),
        ]

    @property
    def sharding(self) -> str:
        """How processes share the weights: as the scale says, or as was measured to be fastest."""
        best = "node" if self.measured is None else self.measured["sharding"]
        return self.model.get("sharding", best)

    @property
    def checkpoint_seconds(self) -> int:
        """Seconds between two checkpoints of a run."""
        return round(60 * self.machine.checkpoint_minutes)

    @property
    def processes(self) -> int:
        """Processes that share the batch: one per device, unless the scale says otherwise."""
        nodes = self.model.get("nodes", 1)
        return nodes * self.model.get("processes_per_node", self.devices // nodes)

    @cached_property
    def flops(self) -> float:
        """FLOPs that training one run takes."""
        return training_flops(self.shape, self.size.tokens, self.size.sequence_length)

    def hours(self, evaluations: float = 1) -> float:
        """Hours that one run takes, with ``evaluations`` times all tasks."""
        evaluating = self.machine.evaluation_minutes
        if self.measured is None:
            computing = self.flops / (self.devices * self.machine.flops_per_second)
            seconds = computing + self.size.steps * self.machine.step_seconds
        else:
            seconds = self.size.steps * self.measured["step_seconds"]
            evaluating = self.measured["evaluation_minutes"]
        # All processes score together.
        return seconds / 3600 + evaluations * evaluating / 60 / self.processes

    def training_request(self, runs: int, evaluations: int = 1) -> JobRequest:
        """What a job asks for that trains ``runs`` runs one after the other."""
        micro_batch = self._micro_batch()
        host = (
            self._on_node * self.machine.process_mb * 1e6 + CHECKPOINT_BYTES * self.shape.parameters
        )
        if not self.model["gpu"]:
            host += self._device_bytes(micro_batch)
        return JobRequest(self._minutes(runs * self.hours(evaluations)), _mb(host), micro_batch)

    @property
    def _on_node(self) -> int:
        """How many processes a run starts on each node."""
        return self.processes // self.model.get("nodes", 1)

    def _minutes(self, hours: float) -> int:
        """Minutes to ask for: some to spare, but no more than a job may have at a time."""
        wanted = self.machine.safety * hours * 60 + self.machine.spare_minutes
        return min(math.ceil(wanted), self.machine.longest_job)

    def _device_bytes(self, micro_batch: int) -> float:
        """Memory of one device with that many sequences in it.

        Sharded gradients of several micro batches are added up whole, before they are shared out.
        """
        parameters = self.shape.parameters
        tokens = micro_batch * self.size.sequence_length
        shards = shards_of(self.sharding, self.processes, self._on_node)
        states = parameters * STATE_BYTES / shards
        if shards > 1 and micro_batch * self.processes < self.size.batch_size:
            states += parameters * GRADIENT_BYTES
        copies = parameters * COPY_BYTES + loss_memory(self.shape) if self.model["gpu"] else 0
        # Without a GPU everything is float32 and the logits of tiny vocabularies are held whole.
        width = 1 if self.model["gpu"] else 2
        logits = 0 if self.model["gpu"] else 8 * tokens * self.shape.vocab_size
        return states + copies + width * tokens * activation_bytes(self.shape) + logits

    def _micro_batch(self) -> int:
        """The most sequences that fit a device and divide its share of the batch evenly."""
        rows, left = divmod(self.size.batch_size, self.processes)
        if left or not rows:
            raise OlmixError(
                f"model '{self.name}': a batch of {self.size.batch_size} sequences cannot be split "
                f"evenly over {self.processes} processes"
            )
        if self.measured is not None:
            return self.measured["micro_batch"]
        room = self.machine.device_gb * 1e9
        for micro_batch in range(rows, 0, -1):
            if rows % micro_batch == 0 and self._device_bytes(micro_batch) <= room:
                return micro_batch
        raise OlmixError(
            f"model '{self.name}': one sequence takes {self._device_bytes(1) / 1e9:.3g} GB of a "
            f"device, expected at most hardware.device_gb, {self.machine.device_gb}; use more GPUs"
        )


def _mb(size: float) -> int:
    """Bytes as whole hundreds of MB, rounded up."""
    return 100 * math.ceil(size / 1e8)
