"""Where a model is measured: a folder that all processes see, and the corpus in it."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.cost.compute import run_size
from olmix.errors import OlmixError
from olmix.model.shapes import ModelShape, is_tiny, shape
from olmix.preflight.stand_ins import counting_corpus
from olmix.training.distributed import Processes
from olmix.training.presets import preset
from olmix.training.settings import RunSettings, data_fingerprint

__all__ = ["Place", "forget_cached", "measured_run", "model_shape"]

LATENESS = 60.0
"""Seconds after which a file that one node wrote must be seen by the others."""


@dataclass(frozen=True)
class Place:
    """A folder on the file system that training will use, and the processes that meet there.

    ``data`` is the prepared data of the scale, if they are prepared.
    """

    folder: Path
    team: Processes
    data: Path | None = None

    def corpus(self, name: str, vocabulary: int, tokens: int) -> Corpus:
        """A stand-in corpus, written by the first process and seen by all."""
        path = self.folder / name
        if self.team.first:
            counting_corpus(path, vocabulary, tokens)
        self.team.wait()
        end = time.monotonic() + LATENESS
        while not list(path.glob("*/manifest.json")):
            if time.monotonic() > end:
                raise OlmixError(
                    f"{path}: written by another node {LATENESS:g} s ago and not seen here; "
                    "expected a file system that all nodes share"
                )
            time.sleep(0.5)
        return Corpus.open(path)

    def training_corpus(self, model: Mapping[str, Any], most: int) -> Corpus:
        """The prepared corpus, or a stand-in of ``most`` tokens in the model's vocabulary."""
        if self.data is not None:
            return Corpus.open(self.data / "corpus")
        found = shape(model["shape"], model.get("vocabulary"))
        return self.corpus("corpus", found.vocab_size, most)


def model_shape(model: Mapping[str, Any], corpus: Corpus) -> ModelShape:
    """The shape of a scale's model over a corpus."""
    own = corpus.tokenizer.vocab_size if is_tiny(model["shape"]) else None
    return shape(model["shape"], own)


def measured_run(model: Mapping[str, Any], corpus: Corpus, steps: int) -> RunSettings:
    """A run of ``steps`` steps of a scale's model over the natural mix of a corpus."""
    size, recipe = run_size(model), preset(model["shape"])
    counts = corpus.token_counts
    mix = {name: tokens / sum(counts.values()) for name, tokens in counts.items() if tokens}
    return RunSettings(
        model=model_shape(model, corpus),
        mix=mix,
        tokens=steps * size.sequence_length * size.batch_size,
        sequence_length=size.sequence_length,
        batch_size=size.batch_size,
        learning_rate=recipe.learning_rate,
        corpus=data_fingerprint(corpus, mix),
        tokenizer=corpus.tokenizer.sha256,
        init=recipe.init,
        max_repetition=1e12,
    )


def forget_cached(folder: Path) -> None:
    """Let the system forget what it holds of a folder's files, so that they are really read."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
