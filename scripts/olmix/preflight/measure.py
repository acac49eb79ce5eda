"""What one model of a scale does where it will be trained: some tens of steps at its real shape."""

import gc
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from olmix.cost.compute import Machine, RunCost
from olmix.errors import OlmixError
from olmix.evaluation.bpb import gold_nats
from olmix.evaluation.suite import Suite
from olmix.evaluation.tokens import PaddedBatch, TokenisedSuite, evenly_spaced, lay_out
from olmix.preflight.place import Place, forget_cached, measured_run
from olmix.preflight.small_run import differences_from_cpu
from olmix.preflight.stand_ins import random_instances
from olmix.training.checkpoint import CheckpointFolder
from olmix.training.distributed import Processes, whole_model
from olmix.training.run_data import run_data
from olmix.training.settings import Hardware, RunSettings
from olmix.training.sharding import SHARDINGS
from olmix.training.trainer import Trainer

__all__ = ["Subject", "measure"]

CORPUS_TOKENS = 50_000_000
"""Most tokens of a stand-in corpus: 200 MB."""
EVALUATED = 16
"""Batches of each process that are scored, from the longest to the shortest."""
INSTANCES = 2000
"""Of a stand-in suite."""


@dataclass(frozen=True)
class Subject:
    """A model to be measured: its settings, the assumed hardware, how it is evaluated."""

    name: str
    model: Mapping[str, Any]
    hardware: Mapping[str, Any]
    batch_tokens: int
    max_instances: int | None
    steps: int
    warm_up: int = 5

    @property
    def cost(self) -> RunCost:
        """What a run of the model should cost by the assumptions."""
        return RunCost(self.name, self.model, Machine.from_dict(self.hardware))


def measure(asked: Subject, place: Place) -> dict[str, Any]:
    """Check and measure a model in the processes at hand; what is found, in each of them."""
    team = place.team
    several = {"none": "none"} if team.count == 1 else SHARDINGS
    differences = differences_from_cpu(place, "none" if team.count == 1 else "node")
    corpus = place.training_corpus(asked.model, CORPUS_TOKENS)
    settings = measured_run(asked.model, corpus, asked.warm_up + asked.steps)
    reading = _reading(settings, corpus, team)
    found: dict[str, dict[str, Any]] = {}
    for sharding in several:
        forgotten = found == {}  # evaluation and checkpoint once
        if (one := _steps(asked, settings, place, corpus, sharding, more=forgotten)) is not None:
            found[sharding] = one
    if not found:
        raise OlmixError(f"model '{asked.name}': one sequence does not fit the memory of a device")
    best = min(found, key=lambda name: found[name]["step_seconds"])
    return {
        "of": asked.cost.subject,
        "device": _device_name(team.device),
        "backend": dist.get_backend() if team.count > 1 else None,
        "differences": differences,
        "reading": reading,
        **found[next(iter(found))],
        **found[best],
        "sharding": best,
        "shardings": {name: one["step_seconds"] for name, one in found.items()},
    }


def _steps(
    asked: Subject, settings: RunSettings, place: Place, corpus: Any, sharding: str, *, more: bool
) -> dict[str, Any] | None:
    """Speed and memory with a sharding, at the largest micro batch that fits; None if none does."""
    team = place.team
    rows = settings.batch_size // team.count
    first = asked.cost.training_request(1).micro_batch
    for micro in (m for m in range(first, 0, -1) if rows % m == 0):
        hardware = Hardware(micro_batch=micro, sharding=sharding)
        out_of_memory, found = 0.0, None
        try:
            found = _timed(asked, settings, place, corpus, hardware, more=more)
        except torch.OutOfMemoryError:
            out_of_memory = 1.0
        if not team.sum(torch.tensor(out_of_memory)).item():
            return found
    return None


def _timed(
    asked: Subject,
    settings: RunSettings,
    place: Place,
    corpus: Any,
    hardware: Hardware,
    *,
    more: bool,
) -> dict[str, Any]:
    team, data = place.team, run_data(settings, corpus)
    _start_afresh(team.device)
    checkpoints = CheckpointFolder(place.folder / "state", settings.hash)
    trainer = Trainer(settings, data, hardware, team, checkpoints)
    try:
        begun = _moment(team)
        trainer.advance()
        first = _moment(team) - begun
        while trainer.step < asked.warm_up:
            trainer.advance()
        begun = _moment(team)
        while trainer.step < settings.steps:
            trainer.advance()
        seconds = (_moment(team) - begun) / asked.steps
        trainer.losses.flush()
        found: dict[str, Any] = {
            "step_seconds": seconds,
            "first_step_seconds": first,
            "tokens_per_second": settings.sequence_length * settings.batch_size / seconds,
            "memory_gb": _memory(team) / 1e9,
            "micro_batch": trainer.micro,
            "compiled": trainer.model.compiled_slice is not None,
            "precision": "bfloat16" if trainer.bfloat16 else "float32",
        }
        if more:
            found |= {"evaluation": _evaluating(asked, trainer, place)}
            found |= {"checkpoint": _checkpoint(trainer)}
    finally:
        trainer.close()
        if team.first:
            checkpoints.remove()
        team.wait()
    return found


def _start_afresh(device: torch.device) -> None:
    """Nothing of the model before is left in memory, in its record or in the compiler's cache."""
    if device.type == "cuda":
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
        torch.compiler.reset()


def _moment(team: Processes) -> float:
    """The time, once every process and its device are done with what they were given."""
    if team.device.type == "cuda":
        torch.cuda.synchronize(team.device)
    team.wait()
    return time.monotonic()


def _memory(team: Processes) -> float:
    """Most bytes a device held; without one, this process."""
    if team.device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(team.device))
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def _reading(settings: RunSettings, corpus: Any, team: Processes) -> dict[str, float]:
    """How long this process's rows of a step take to read from files that nobody has in memory."""
    rows = settings.batch_size // team.count
    data, steps = run_data(settings, corpus), min(settings.steps, 10)
    forget_cached(corpus.root)
    team.wait()
    begun = time.monotonic()
    read = sum(data.batch(step * team.count + team.rank, rows).size for step in range(steps))
    seconds = time.monotonic() - begun
    stored = {"uint16": 2, "uint32": 4}[corpus.tokenizer.dtype]
    return {"step_seconds": seconds / steps, "bytes_per_second": stored * read / seconds}


def _evaluating(asked: Subject, trainer: Trainer, place: Place) -> dict[str, Any]:
    """Tokens that one device scores in a second, and its minutes for a prepared suite."""
    batches, whole = _batches(asked, trainer, place.data)
    few = [batches[i] for i in evenly_spaced(len(batches), EVALUATED * place.team.count)]
    mine = few[place.team.rank :: place.team.count]
    model = whole_model(trainer.model, bfloat16=trainer.bfloat16)
    precision = "bfloat16" if trainer.bfloat16 else "float32"
    owners = 1 + max(int(batch.owners.max()) for batch in few)
    settings: dict[str, Any] = {"device": place.team.device, "precision": precision}
    gold_nats(model, mine[:1], owners, **settings)  # the first is slower than all others
    begun = _moment(place.team)
    gold_nats(model, mine, owners, **settings)
    seconds = _moment(place.team) - begun
    speed = sum(batch.ids.size for batch in few) / seconds / place.team.count
    total = sum(batch.ids.size for batch in batches)
    return {"tokens_per_second": speed, "minutes": total / speed / 60 if whole else None}


def _batches(asked: Subject, trainer: Trainer, data: Path | None) -> tuple[list[PaddedBatch], bool]:
    """The batches of the prepared suite, or of a stand-in; and whether they are the suite's."""
    shape = trainer.settings.model
    if data is None:
        instances = random_instances(shape.vocab_size, INSTANCES)
        return lay_out(instances, shape.context_length, asked.batch_tokens), False
    suite = TokenisedSuite(Suite.open(data / "suite"), data / "tokenizer.json")
    return suite.batches(shape.context_length, asked.batch_tokens, asked.max_instances), True


def _checkpoint(trainer: Trainer) -> dict[str, float]:
    """Seconds that training stands still for a checkpoint, and that its writing takes."""
    team, begun = trainer.team, _moment(trainer.team)
    trainer.save()
    held = _moment(team) - begun
    trainer.writer.wait()
    size = sum(path.stat().st_size for path in trainer.checkpoints.folder.glob("*.safetensors"))
    written = trainer.checkpoints.cost or 0.0
    return {"held_seconds": held, "writing_seconds": written, "bytes": float(size)}
