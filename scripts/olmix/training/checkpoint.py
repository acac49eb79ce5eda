"""The resumable state of a run: never half-written, never taken for another run's.

A run's state is the folder ``<state_root>/<settings hash>/`` with, for each of the last two
checkpoints, ``step-N.safetensors`` (weights, moments of the optimiser, losses so far) and then
``step-N.json``, whose presence says that the first is complete and which carries its SHA-256.
A run draws no random numbers while it trains and its data are addressed by step, so the step is
all there is to say about the position.
"""

import logging
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from olmix.errors import OlmixError
from olmix.files import read_json, replacing, sha256, write_json

__all__ = ["BackgroundWriter", "Checkpoint", "CheckpointFolder"]

KEPT = 2
logger = logging.getLogger(__name__)


@dataclass
class Checkpoint:
    """A moment of a run: ``step`` steps are done."""

    step: int
    tensors: dict[str, Tensor]
    seconds: float = 0.0
    evaluations: list[dict[str, Any]] = field(default_factory=list)


class CheckpointFolder:
    """The checkpoints of the run with a given settings hash."""

    def __init__(self, state_root: str | Path, settings_hash: str) -> None:
        self.folder = Path(state_root) / settings_hash
        self.settings_hash = settings_hash
        self.cost: float | None = None
        """Seconds that the last `save` took."""

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint beside the previous one, then remove the older ones.

        When the disk is full the previous checkpoints stay as they are.
        """
        started = time.monotonic()
        path = self._tensors(checkpoint.step)
        try:
            with replacing(path) as temporary:
                save_file(checkpoint.tensors, temporary)
                digest = sha256(temporary)
            record = {
                "settings_hash": self.settings_hash,
                "step": checkpoint.step,
                "seconds": checkpoint.seconds,
                "evaluations": checkpoint.evaluations,
                "sha256": digest,
            }
            write_json(self._record(checkpoint.step), record)
        except (OSError, SafetensorError) as error:
            if not self._record(checkpoint.step).exists():
                path.unlink(missing_ok=True)
            kept = f"step {steps[-1]}" if (steps := self.steps()) else "none"
            raise OlmixError(
                f"{self.folder}: cannot write the checkpoint of step {checkpoint.step} ({error}); "
                f"last good checkpoint: {kept}"
            ) from error
        self._prune()
        self.cost = time.monotonic() - started

    def latest(self) -> Checkpoint | None:
        """The newest whole checkpoint; None if there is none at all.

        A damaged one is passed over with a warning for the one before it; when every one is
        damaged the run is refused rather than silently started again.
        """
        steps = self.steps()
        for step in reversed(steps):
            try:
                self._check(step)
                return self.load(step)
            except OlmixError as error:
                logger.warning("%s; falling back to the checkpoint before it", error)
        if steps:
            raise OlmixError(
                f"{self.folder}: all {len(steps)} checkpoints are damaged; "
                "remove the folder to start this run again"
            )
        return None

    def load(self, step: int) -> Checkpoint:
        """The checkpoint of a step, which `latest` has found to be whole."""
        record = read_json(self._record(step))
        tensors = load_file(self._tensors(step))
        return Checkpoint(step, tensors, record["seconds"], record["evaluations"])

    def steps(self) -> list[int]:
        """The steps with a checkpoint, oldest first."""
        return sorted(int(path.stem.removeprefix("step-")) for path in self._records())

    def remove(self) -> None:
        """Forget the run's state, once its final weights are in place."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _check(self, step: int) -> None:
        record, path = read_json(self._record(step)), self._tensors(step)
        if not path.is_file():
            raise OlmixError(f"{path}: no such file")
        if sha256(path) != record.get("sha256"):
            raise OlmixError(f"{path}: truncated or altered (its SHA-256 is not the recorded one)")
        if record["settings_hash"] != self.settings_hash:
            raise OlmixError(
                f"{path}: made by the settings {record['settings_hash']!r}, "
                f"expected {self.settings_hash!r}"
            )

    def _prune(self) -> None:
        """Keep the last checkpoints; drop older ones and what a killed process left behind."""
        kept = set(self.steps()[-KEPT:])
        for path in self.folder.iterdir():
            number = path.stem.removeprefix("step-")
            if path.name != ".lock" and not (number.isdigit() and int(number) in kept):
                path.unlink(missing_ok=True)

    def _records(self) -> list[Path]:
        return list(self.folder.glob("step-*.json"))

    def _record(self, step: int) -> Path:
        return self.folder / f"step-{step}.json"

    def _tensors(self, step: int) -> Path:
        return self.folder / f"step-{step}.safetensors"


class BackgroundWriter:
    """Writes one checkpoint at a time while training goes on."""

    def __init__(self, checkpoints: CheckpointFolder) -> None:
        self.checkpoints = checkpoints
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._writing: Future[None] | None = None

    def save(self, checkpoint: Checkpoint) -> None:
        """Begin to write a checkpoint, whose tensors nobody changes any more."""
        self.wait()
        self._writing = self._pool.submit(self.checkpoints.save, checkpoint)

    def wait(self) -> None:
        """Wait until the last one is written; what went wrong with it is raised here."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def close(self) -> None:
        """End the thread, when what it writes is written."""
        self._pool.shutdown()
