"""How fast models train here: measured for some seconds each, with all devices busy."""

import contextlib
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from olmix.errors import OlmixError
from olmix.own_text.batches import end_with_parent

__all__ = ["BATCH_TOKENS", "MOST_INSTANCES", "Devices", "Speed", "Stopwatch"]

SECONDS = 4.0
# Long enough that no measurement comes to its end.
STEPS = 20_000
# How runs are scored: tokens at once, and instances of a task, of which some suites have thousands.
BATCH_TOKENS = 4096
MOST_INSTANCES = 64


@dataclass(frozen=True)
class Devices:
    """What models train on: the cores of this machine, or its GPUs."""

    kind: str
    count: int

    @property
    def on_gpu(self) -> bool:
        """Whether the devices are GPUs."""
        return self.kind != "cpu"

    @property
    def unit(self) -> str:
        """What one of the devices is called in a sentence."""
        return "GPU" if self.on_gpu else "core"

    def __str__(self) -> str:
        """How many devices of which kind, as words."""
        return f"{self.count} {self.unit}{'s' if self.count > 1 else ''}"


@dataclass(frozen=True)
class Speed:
    """What one device does: tokens trained in a second, seconds to score all tasks once."""

    tokens_per_second: float
    evaluation_seconds: float


class Stopwatch:
    """Measures shapes on every device at once: ``with Stopwatch() as watch``.

    On cores a process each, as jobs will be; of several GPUs, which do not slow each other down,
    one stands for all. ``count``: devices there will be, if not those of this machine.
    """

    def __init__(self, count: int | None = None) -> None:
        self._count = count

    def __enter__(self) -> Self:
        """Start the processes, which takes some seconds."""
        context = multiprocessing.get_context("spawn")
        cores = len(os.sched_getaffinity(0))
        self._pool = ProcessPoolExecutor(cores, context, initializer=end_with_parent)
        kind, found = self._pool.submit(_devices).result()
        self.devices = Devices(kind, self._count or found)
        self._workers = 1 if self.devices.on_gpu else min(cores, self.devices.count)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes that measure."""
        self._pool.shutdown(cancel_futures=True)

    def measure(
        self, shape: str, corpus: Path, suite: Path, tokenizer: Path, seconds: float = SECONDS
    ) -> Speed:
        """The speed of a shape on one of the devices while the others do the same."""
        waiting = [
            self._pool.submit(_measure, shape, seconds, corpus, suite, tokenizer)
            for _ in range(self._workers)
        ]
        found = [future.result() for future in waiting]
        return Speed(
            tokens_per_second=sum(speed.tokens_per_second for speed in found) / len(found),
            evaluation_seconds=sum(speed.evaluation_seconds for speed in found) / len(found),
        )


def _devices() -> tuple[str, int]:
    """The kind of device there is, and how many."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name(0).replace(" ", "-"), torch.cuda.device_count()
    return "cpu", len(os.sched_getaffinity(0))


class _EnoughError(Exception):
    """Raised to end a measurement once it is long enough."""


def _measure(shape: str, seconds: float, corpus: Path, suite: Path, tokenizer: Path) -> Speed:
    """Train for some seconds on the natural mix, then score a model of the shape once."""
    import torch

    from olmix.corpus.store import Corpus
    from olmix.training.trainer import RunProgress, train_run

    torch.set_num_threads(1)
    data = Corpus.open(corpus)
    marks: list[tuple[float, int]] = []

    def look(progress: RunProgress) -> None:
        marks.append((time.monotonic(), progress.step))
        if marks[-1][0] - marks[0][0] >= seconds:
            raise _EnoughError

    settings = _settings(shape, data)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(_EnoughError):
        train_run(settings, data, Path(folder) / "run", folder, on_progress=look)
    (begun, first), (ended, last) = marks[0], marks[-1]
    if last == first:
        raise OlmixError(f"shape '{shape}': no step in {seconds:g} seconds, nothing to measure")
    per_step = settings.sequence_length * settings.batch_size
    scoring = _time_scoring(settings.model, suite, tokenizer)
    return Speed((last - first) * per_step / (ended - begun), scoring)


def _settings(name: str, corpus: Any) -> Any:
    """A run of the shape that is longer than anybody will wait."""
    from olmix.model.shapes import shape
    from olmix.training.presets import preset
    from olmix.training.settings import RunSettings, data_fingerprint

    recipe = preset(name)
    total = sum(corpus.token_counts.values())
    mix = {domain: tokens / total for domain, tokens in corpus.token_counts.items()}
    return RunSettings(
        model=shape(name, corpus.tokenizer.vocab_size),
        mix=mix,
        tokens=STEPS * recipe.sequence_length * recipe.batch_size,
        sequence_length=recipe.sequence_length,
        batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        corpus=data_fingerprint(corpus, mix),
        tokenizer=corpus.tokenizer.sha256,
        init=recipe.init,
        max_repetition=float("1e12"),
    )


def _time_scoring(model: Any, suite: Path, tokenizer: Path) -> float:
    import torch

    from olmix.evaluation.bpb import evaluate
    from olmix.evaluation.suite import Suite
    from olmix.evaluation.tokens import TokenisedSuite
    from olmix.model.transformer import Transformer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tasks = TokenisedSuite(Suite.open(suite), tokenizer)
    # Made once for all runs of a job.
    tasks.batches(model.context_length, BATCH_TOKENS, MOST_INSTANCES)
    fresh = Transformer(model).to(device).eval()
    begun = time.monotonic()
    evaluate(fresh, tasks, device=device, batch_tokens=BATCH_TOKENS, max_instances=MOST_INSTANCES)
    return time.monotonic() - begun
