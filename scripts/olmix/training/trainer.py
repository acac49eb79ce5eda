"""Train one run: from settings and a corpus to final weights, whatever happens in between.

On a CPU a run that was killed and resumed ends with the same bytes as one that was not; a GPU's
own kernels may round differently each time.
"""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from olmix import __version__
from olmix.corpus.mixing import MixedData
from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.model.transformer import Transformer
from olmix.model.weights import read_metadata, save_weights
from olmix.provenance.environment import commit
from olmix.training.checkpoint import Checkpoint, CheckpointFolder
from olmix.training.deadline import RunStopped
from olmix.training.distributed import (
    Processes,
    copy_into,
    processes,
    sharded,
    synchronised,
    whole,
)
from olmix.training.losses import Losses
from olmix.training.optimizer import Optimizer
from olmix.training.passes import Passes
from olmix.training.reference import reference_model
from olmix.training.run_data import check_corpus, run_data
from olmix.training.settings import Hardware, RunSettings
from olmix.training.shared_run import only_job
from olmix.training.steered import Steered, steered

__all__ = ["RunProgress", "finished_run", "train_run"]

WRITING_SPEED = 100e6
"""Bytes per second assumed for a checkpoint until one has been timed."""

CONTINUE, SAVE, STOP = range(3)

Evaluate = Callable[[Transformer], dict[str, Any]]


@dataclass(frozen=True)
class RunProgress:
    """Where a run stands: its step, of how many, its loss and its speed."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float


def finished_run(
    run_folder: str | Path, settings: RunSettings, team: Processes | None = None
) -> dict[str, Any] | None:
    """The record of the run in ``run_folder`` if it is finished and had these settings.

    With a ``team`` the first process answers for all: nodes may see a new file at different times.
    """
    if team is not None and team.count > 1:
        record = finished_run(run_folder, settings) if team.first else {}
        return record if team.first_says(record is not None) else None
    record_path, weights = Path(run_folder) / "run.json", Path(run_folder) / "weights.safetensors"
    if not (record_path.is_file() and weights.is_file()):
        return None
    record = read_json(record_path)
    hashes = {record.get("hash"), read_metadata(weights).get("settings_hash")}
    return record if hashes == {settings.hash} else None


def train_run(
    settings: RunSettings,
    corpus: Corpus,
    run_folder: str | Path,
    state_root: str | Path,
    *,
    hardware: Hardware | None = None,
    evaluate: Evaluate | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
    team: Processes | None = None,
    reference: str | Path | None = None,
) -> dict[str, Any]:
    """Train the run of ``settings``, or take it up where it was left, and return its record.

    ``run_folder`` gets ``weights.safetensors`` and, last, ``run.json``; the state to resume from
    lives in ``state_root`` until then. ``evaluate(model)`` is called at ``settings.evaluate_at``.
    ``reference`` is the folder of the run that a steered one compares itself with.
    A run that is already finished is returned as it is. `RunStopped` is raised when the team's
    deadline came first.
    """
    hardware = hardware or Hardware()
    if team is None:
        with processes(hardware.device) as team:
            return train_run(
                settings,
                corpus,
                run_folder,
                state_root,
                hardware=hardware,
                evaluate=evaluate,
                on_progress=on_progress,
                team=team,
                reference=reference,
            )
    if settings.evaluate_at and evaluate is None:
        raise OlmixError(
            f"{run_folder}: evaluations along training are asked for (at {settings.evaluate_at}), "
            "but nothing to evaluate with was given"
        )
    if (finished := finished_run(run_folder, settings, team)) is not None:
        return finished
    check_corpus(settings, corpus)
    data = run_data(settings, corpus)
    checkpoints = CheckpointFolder(state_root, settings.hash)
    with only_job(checkpoints.folder, team):
        if (finished := finished_run(run_folder, settings, team)) is not None:
            return finished
        trainer = Trainer(settings, data, hardware, team, checkpoints, reference)
        trainer.train(evaluate, on_progress)
        return trainer.finish(Path(run_folder))


class Trainer:
    """A run in the making: its model, its data, its optimiser and its checkpoints."""

    def __init__(
        self,
        settings: RunSettings,
        data: MixedData,
        hardware: Hardware,
        team: Processes,
        checkpoints: CheckpointFolder,
        reference: str | Path | None = None,
    ) -> None:
        """Build the model, spread it over the processes, and resume from the last checkpoint."""
        self.settings, self.data, self.team = settings, data, team
        self.hardware, self.checkpoints = hardware, checkpoints
        on_gpu = team.device.type == "cuda"
        self.bfloat16 = hardware.precision == "bfloat16" or (
            hardware.precision == "auto" and on_gpu
        )
        self.rows = settings.batch_size // team.count
        self.micro = min(hardware.micro_batch or self.rows, self.rows)
        if settings.batch_size % team.count or self.rows % self.micro:
            raise OlmixError(
                f"a batch of {settings.batch_size} sequences cannot be split evenly over "
                f"{team.count} processes in micro batches of {self.micro}"
            )
        self.model = Transformer(settings.model, init=settings.init).to(team.device)
        if on_gpu if hardware.compile is None else hardware.compile:
            self.model.compile_parts()
        if hardware.sharded:
            loss = sharded(self.model, team, bfloat16=self.bfloat16)
            self.optimizer = Optimizer(self.model, settings, sharded=True)
        else:
            self.optimizer = Optimizer(self.model, settings)
            loss = synchronised(self.model, team)
        self.passes = Passes(
            loss,
            team,
            micro_batch=self.micro,
            z_loss=settings.z_loss,
            bfloat16=self.bfloat16,
            sharded=hardware.sharded,
        )
        self.steered: Steered | None = None
        if settings.steering is not None:
            compared = reference_model(settings, reference, team.device)
            self.steered = steered(settings, data, self.passes, self.optimizer, compared)
        self.losses = Losses(settings, team)
        self.evaluations: list[dict[str, Any]] = []
        self.seconds_before = 0.0
        self.step = 0
        self._resume()
        self.first_step, self.started = self.step, time.monotonic()
        self.last_saved, self.slowest_step = self.started, 0.0

    @property
    def seconds(self) -> float:
        """Seconds of training, in this process and before it."""
        return self.seconds_before + time.monotonic() - self.started

    def train(
        self, evaluate: Evaluate | None, on_progress: Callable[[RunProgress], None] | None
    ) -> None:
        """Train the steps that are left, with evaluations and checkpoints on the way."""
        evaluate_after = {
            max(1, round(fraction * self.settings.steps)): fraction
            for fraction in self.settings.evaluate_at
        }
        shown = time.monotonic()
        while self.step < self.settings.steps:
            begun = time.monotonic()
            self.losses.add(self._gradients())
            self.optimizer.step(self.step)
            self.step += 1
            if self.step in evaluate_after and evaluate is not None:
                self._evaluate(evaluate, evaluate_after[self.step])
            now = time.monotonic()
            # The first steps of a process compile and warm up: they say nothing about the others.
            if self.step > self.first_step + 3:
                self.slowest_step = max(self.slowest_step, now - begun)
            self._save_if_due()
            if on_progress is not None and (now - shown > 1 or self.step == self.settings.steps):
                shown = now
                on_progress(self._progress())
        self.losses.flush()

    def _gradients(self) -> Tensor:
        """Add up the gradients of this process's rows of the batch; its mean loss."""
        if self.steered is not None:
            self.steered.before(self.step)
        batch = self.data.batch(self.step * self.team.count + self.team.rank, self.rows)
        rows = torch.from_numpy(batch).to(self.team.device)
        if self.steered is not None:
            return self.steered.gradients(self.step, rows)
        return self.passes.mean(rows)

    def _evaluate(self, evaluate: Evaluate, fraction: float) -> None:
        """Evaluate the whole model in the first process and note the result."""
        self.losses.flush()
        model = self.model
        if self.hardware.sharded:
            tensors = {name: whole(p.detach()) for name, p in model.named_parameters()}
            if self.team.first:
                model = Transformer(self.settings.model).to(self.team.device)
                model.load_state_dict(tensors)
        result: dict[str, Any] = {}
        if self.team.first:
            result = evaluate(model.eval())
            model.train()
        self.team.wait()
        tokens = self.step * self.settings.tokens // self.settings.steps
        self.evaluations.append(
            {"fraction": fraction, "step": self.step, "tokens": tokens, "result": result}
        )

    def _save_if_due(self) -> None:
        """Write a checkpoint when it is time for one, and stop when there is no time for more."""
        answer, now = CONTINUE, time.monotonic()
        if self.step < self.settings.steps:
            every = self.hardware.checkpoint_steps
            if now - self.last_saved > self.hardware.checkpoint_seconds:
                answer = SAVE
            if every is not None and self.step % every == 0:
                answer = SAVE
            if not self.team.deadline.allows(self._time_to_stop()):
                answer = STOP
        answer = self.team.first_says(answer)
        if answer != CONTINUE:
            self.save()
            self.last_saved = time.monotonic()
        if answer == STOP:
            raise RunStopped(
                f"stopped before the time limit at step {self.step} of {self.settings.steps}; "
                "start it again to go on"
            )

    def _time_to_stop(self) -> float:
        """The seconds to keep for one more step and a checkpoint: twice what they take, and one."""
        writing = self.checkpoints.cost
        if writing is None:
            # Weights and two moments of four bytes, written once and read once for their hash.
            writing = 12 * self.settings.model.parameters / WRITING_SPEED
        return 1.0 + 2 * (writing + self.slowest_step)

    def _progress(self) -> RunProgress:
        done = (self.step - self.first_step) * self.settings.tokens / self.settings.steps
        speed = done / max(1e-9, time.monotonic() - self.started)
        known = self.losses.known
        recent = known[-10:]
        loss = sum(recent) / len(recent) if recent else float("nan")
        return RunProgress(self.step, self.settings.steps, loss, speed)

    def save(self) -> None:
        """Write a checkpoint of this moment."""
        self.losses.flush()
        tensors = {}
        for name, tensor in self._state().items():
            value = whole(tensor.detach())
            if self.team.first:
                # Clones: safetensors refuses views of one another's memory.
                tensors[name] = value.cpu().clone()
        if self.team.first:
            tensors["losses"] = self.losses.tensor()
            if self.steered is not None:
                for name, array in self.steered.state().items():
                    tensors[f"steering.{name}"] = torch.tensor(array)
            checkpoint = Checkpoint(self.step, tensors, self.seconds, self.evaluations)
            self.checkpoints.save(checkpoint)
        self.team.wait()

    def _state(self) -> dict[str, Tensor]:
        """The weights and the optimiser's moments, by name."""
        weights = {f"model.{name}": p for name, p in self.model.named_parameters()}
        return weights | dict(self.optimizer.moments())

    def _resume(self) -> None:
        """Fill in the newest checkpoint, if there is one."""
        checkpoint = self.checkpoints.latest()
        if checkpoint is None:
            return
        for name, tensor in self._state().items():
            copy_into(tensor, checkpoint.tensors[name])
        self.optimizer.resume(checkpoint.step)
        self.losses.resume(checkpoint.tensors["losses"])
        if self.steered is not None:
            kept = {n: t for n, t in checkpoint.tensors.items() if n.startswith("steering.")}
            self.steered.resume({n.removeprefix("steering."): t.numpy() for n, t in kept.items()})
        self.step, self.seconds_before = checkpoint.step, checkpoint.seconds
        self.evaluations = checkpoint.evaluations

    def finish(self, run_folder: Path) -> dict[str, Any]:
        """Put the final weights and then the record in place, and drop the resumable state."""
        record = self._record()
        weights = {name: whole(p.detach()) for name, p in self.model.named_parameters()}
        if self.team.first:
            try:
                save_weights(
                    run_folder / "weights.safetensors",
                    self.settings.model,
                    weights,
                    self.settings.hash,
                )
                write_json(run_folder / "run.json", record)
            except OSError as error:
                if self.team.count == 1:  # else the others would have to take part
                    self.save()
                raise OlmixError(
                    f"{run_folder}: cannot write the finished run ({error}); "
                    "its last checkpoint is kept"
                ) from error
            self.checkpoints.remove()
        self.team.wait()
        return record

    def _record(self) -> dict[str, Any]:
        """The record of the finished run, which ``run.json`` holds."""
        settings, data = self.settings, self.data
        return {
            "hash": settings.hash,
            "settings": settings.to_dict(),
            "parameters": settings.model.parameters,
            "steps": settings.steps,
            "mix": {"requested": data.requested, "realised": data.realised},
            "schedule": [
                {"until_token": end, "mix": mix}
                for end, mix in zip(data.ends, data.mixes, strict=True)
            ],
            "seen": {"tokens": data.counts, "epochs": data.repetition},
            "largest_repetition": data.largest_repetition,
            **(self.steered.record() if self.steered is not None else {}),
            "losses": self.losses.curve(),
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "tokens_per_second": self._progress().tokens_per_second,
            "provenance": self._provenance(),
        }

    def _provenance(self) -> dict[str, Any]:
        """Where, when and with what the run was computed."""
        return {
            "host": platform.node(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": self.team.device.type,
            "processes": self.team.count,
            "sharded": self.hardware.sharded,
            "precision": "bfloat16" if self.bfloat16 else "float32",
            "versions": {
                "olmix": __version__,
                "python": platform.python_version(),
                "torch": torch.__version__,
            },
            "commit": commit(),
            "slurm_job": os.environ.get("SLURM_JOB_ID"),
        }
