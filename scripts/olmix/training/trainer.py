"""Train one run: from settings and a corpus to final weights, whatever happens in between.

On a CPU a run that was killed and resumed ends with the same bytes as one that was not; a GPU's
own kernels may round differently each time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from olmix.corpus.mixing import MixedData
from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.model.transformer import Transformer
from olmix.model.weights import read_metadata, save_weights
from olmix.training.checkpoint import BackgroundWriter, Checkpoint, CheckpointFolder
from olmix.training.deadline import RunStopped
from olmix.training.distributed import (
    Processes,
    copy_into,
    processes,
    sharded,
    synchronised,
    whole,
    whole_model,
)
from olmix.training.losses import Losses
from olmix.training.optimizer import Optimizer
from olmix.training.passes import Passes
from olmix.training.read_ahead import ReadAhead
from olmix.training.record import data_record, run_provenance, settings_record
from olmix.training.reference import reference_model
from olmix.training.run_data import check_corpus, run_data
from olmix.training.settings import Hardware, RunSettings
from olmix.training.sharding import shards_of
from olmix.training.shared_run import only_job
from olmix.training.steered import Steered, steered

__all__ = ["RunProgress", "Trainer", "finished_run", "train_run"]

WRITING_SPEED = 100e6
"""Bytes per second assumed for a checkpoint until one has been timed."""

PAUSE_STEPS = 20
"""Steps after which a GPU is made to wait for what the host wants to know."""

CONTINUE, SAVE, STOP = range(3)

Evaluate = Callable[[Transformer], dict[str, Any]]
"""Scores a whole model; called in every process at once, which may share the work."""


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
    on_scored: Callable[[dict[str, Any]], None] | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
    team: Processes | None = None,
    reference: str | Path | None = None,
) -> dict[str, Any]:
    """Train the run of ``settings``, or take it up where it was left, and return its record.

    ``run_folder`` gets ``weights.safetensors`` and, last, ``run.json``; the state to resume from
    lives in ``state_root`` until then. ``evaluate(model)`` is called at ``settings.evaluate_at``;
    with ``on_scored`` the final weights are scored too, once they are in place.
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
                on_scored=on_scored,
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
        try:
            trainer.train(evaluate, on_progress)
            record = trainer.finish(Path(run_folder))
        finally:
            trainer.close()
    if on_scored is not None and evaluate is not None:
        on_scored(trainer.final_score(evaluate))
    return record


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
        shards = shards_of(hardware.sharding, team.count, team.on_node)
        if shards > 1:
            kept = hardware.sharding == "kept"
            loss = sharded(self.model, team, shards, bfloat16=self.bfloat16, kept=kept)
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
            shards=shards,
        )
        self.steered: Steered | None = None
        if settings.steering is not None:
            compared = reference_model(settings, reference, team.device)
            self.steered = steered(settings, data, self.passes, self.optimizer, compared)
        # What a steered run reads next is not known before.
        ahead = on_gpu and self.steered is None
        self.batches = ReadAhead(data, team, self.rows, ahead=ahead)
        self.writer = BackgroundWriter(checkpoints)
        self.losses = Losses(settings, team)
        self.pause_steps = hardware.pause_steps or (PAUSE_STEPS if on_gpu else 1)
        self.evaluations: list[dict[str, Any]] = []
        self.seconds_before = 0.0
        self.step = 0
        self._resume()
        self.first_step, self.started = self.step, time.monotonic()
        self.saved_step, self.saved_at = self.step, self.started
        self.paused_at, self.longest_stretch = self.started, 0.0

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
            self.advance()
            if self.step in evaluate_after and evaluate is not None:
                self._evaluate(evaluate, evaluate_after[self.step])
            if self.step % self.pause_steps == 0:
                self._pause()
            now = time.monotonic()
            if on_progress is not None and (now - shown > 1 or self.step == self.settings.steps):
                shown = now
                on_progress(self._progress())
        self.losses.flush()

    def advance(self) -> None:
        """Train one step."""
        self.losses.add(self._gradients())
        self.optimizer.step(self.step)
        self.step += 1

    def _gradients(self) -> Tensor:
        """Add up the gradients of this process's rows of the batch; its mean loss."""
        if self.steered is None:
            return self.passes.mean(self.batches.rows(self.step))
        self.steered.before(self.step)
        return self.steered.gradients(self.step, self.batches.rows(self.step))

    def _evaluate(self, evaluate: Evaluate, fraction: float) -> None:
        """Evaluate the whole model in all processes together and note the result."""
        self.losses.flush()
        result = self._score(evaluate)
        tokens = self.step * self.settings.tokens // self.settings.steps
        self.evaluations.append(
            {"fraction": fraction, "step": self.step, "tokens": tokens, "result": result}
        )

    def _score(self, evaluate: Evaluate) -> dict[str, Any]:
        result = evaluate(whole_model(self.model, bfloat16=self.bfloat16).eval())
        self.model.train()
        return result

    def final_score(self, evaluate: Evaluate) -> dict[str, Any]:
        """The score of the final weights: the one at the end of training, if there is one."""
        if self.evaluations and self.evaluations[-1]["step"] == self.settings.steps:
            return self.evaluations[-1]["result"]
        return self._score(evaluate)

    def _pause(self) -> None:
        """Read the losses, write a checkpoint when it is time, stop when there is no more time.

        Between two pauses nothing waits for a GPU or for another process but training itself.
        """
        self.losses.flush()
        now = time.monotonic()
        # The first steps of a process compile and warm up: they say nothing about the others.
        if self.step - self.pause_steps >= self.first_step + 3:
            self.longest_stretch = max(self.longest_stretch, now - self.paused_at)
        self.paused_at = now
        answer = CONTINUE
        if self.step < self.settings.steps:
            every = self.hardware.checkpoint_steps
            if now - self.saved_at > self.hardware.checkpoint_seconds:
                answer = SAVE
            if every is not None and self.step // every > self.saved_step // every:
                answer = SAVE
            if not self.team.deadline.allows(self._time_to_stop()):
                answer = STOP
        answer = self.team.first_says(answer)
        if answer != CONTINUE:
            self.save()
            self.saved_step, self.saved_at = self.step, time.monotonic()
        if answer == STOP:
            self.writer.wait()
            self.team.wait()
            raise RunStopped(
                f"stopped before the time limit at step {self.step} of {self.settings.steps}; "
                "start it again to go on"
            )

    def _time_to_stop(self) -> float:
        """The seconds to keep until after the next pause: twice what it all takes, and one."""
        writing = self.checkpoints.cost
        if writing is None:
            # Weights and two moments of four bytes, written once and read once for their hash.
            writing = 12 * self.settings.model.parameters / WRITING_SPEED
        return 1.0 + 2 * (writing + self.longest_stretch)

    def _progress(self) -> RunProgress:
        done = (self.step - self.first_step) * self.settings.tokens / self.settings.steps
        speed = done / max(1e-9, time.monotonic() - self.started)
        known = self.losses.known
        recent = known[-10:]
        loss = sum(recent) / len(recent) if recent else float("nan")
        return RunProgress(self.step, self.settings.steps, loss, speed)

    def save(self) -> None:
        """Take a checkpoint of this moment; it is written while training goes on."""
        self.losses.flush()
        tensors = {}
        for name, tensor in self._state().items():
            value = whole(tensor.detach())
            if self.team.first:
                # Memory of its own: training changes the weights while they are written.
                tensors[name] = value.clone() if value.device.type == "cpu" else value.cpu()
        if self.team.first:
            tensors["losses"] = self.losses.tensor()
            if self.steered is not None:
                for name, array in self.steered.state().items():
                    tensors[f"steering.{name}"] = torch.tensor(array)
            self.writer.save(Checkpoint(self.step, tensors, self.seconds, list(self.evaluations)))

    def _state(self) -> dict[str, Tensor]:
        """The weights and the optimiser's moments, by name."""
        weights = {f"model.{name}": p for name, p in self.model.named_parameters()}
        return weights | dict(self.optimizer.moments())

    def _resume(self) -> None:
        """Fill in the newest checkpoint, if there is one: in every process the first one's.

        Nodes may see new files at different times, and one process reads all of it for its hash.
        """
        checkpoint = self.checkpoints.latest() if self.team.first else None
        step = self.team.first_says(-1 if checkpoint is None else checkpoint.step)
        if step < 0:
            return
        checkpoint = checkpoint or self.checkpoints.load(step)
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
        self.writer.wait()
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
                    self.writer.wait()
                raise OlmixError(
                    f"{run_folder}: cannot write the finished run ({error}); "
                    "its last checkpoint is kept"
                ) from error
            self.checkpoints.remove()
        self.team.wait()
        return record

    def close(self) -> None:
        """End the threads that read and write."""
        self.batches.close()
        self.writer.close()

    def _record(self) -> dict[str, Any]:
        """The record of the finished run, which ``run.json`` holds."""
        return {
            **settings_record(self.settings),
            **data_record(self.data),
            **(self.steered.record() if self.steered is not None else {}),
            "losses": self.losses.curve(),
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "tokens_per_second": self._progress().tokens_per_second,
            "provenance": run_provenance(self.passes),
        }
