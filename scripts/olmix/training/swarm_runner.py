"""Many runs in one job: trained one after another in one process, each with its own files.

A tiny run takes less time than importing torch, so that a swarm is not one process per run.
"""

import logging
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.training.distributed import Processes
from olmix.training.settings import Hardware, RunSettings
from olmix.training.trainer import RunProgress, finished_run, train_run

if TYPE_CHECKING:
    from olmix.training.scores import Scores

__all__ = ["RunRequest", "read_runs", "run_all"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunRequest:
    """A run to be trained into ``folder`` from the tokenised corpus at ``corpus``.

    ``reference`` is the folder of the run that a steered one compares itself with.
    """

    folder: Path
    corpus: Path
    settings: RunSettings
    reference: Path | None = None


def read_runs(path: str | Path) -> list[RunRequest]:
    """The runs of a job: a JSON list of ``{"folder", "corpus", "settings"}``.

    An entry may also name the folder of a ``reference`` run. Relative folders are taken from the
    file's own place. All settings are checked here, before the first run starts.
    """
    path, runs = Path(path), []
    entries = read_json(path)
    if not isinstance(entries, list) or not entries:
        raise OlmixError(f"{path}: expected a JSON list of at least one run")
    for number, entry in enumerate(entries):
        try:
            folder, corpus = path.parent / entry["folder"], path.parent / entry["corpus"]
            reference = path.parent / entry["reference"] if "reference" in entry else None
            settings = RunSettings.from_dict(entry["settings"])
            runs.append(RunRequest(folder, corpus, settings, reference))
        except (KeyError, TypeError) as error:
            raise OlmixError(
                f"{path}: run {number} has no {error}; expected folder, corpus and settings"
            ) from None
        except OlmixError as error:
            raise OlmixError(f"{path}: run {number}: {error}") from None
    folders = [run.folder.resolve() for run in runs]
    for folder in folders:
        if folders.count(folder) > 1:
            raise OlmixError(f"{path}: two runs have the folder {folder}")
    return runs


def run_all(
    runs: list[RunRequest],
    state_root: str | Path,
    team: Processes,
    *,
    hardware: Hardware | None = None,
    scores: "Scores | None" = None,
) -> list[tuple[RunRequest, OlmixError]]:
    """Train every run that is not finished yet; the failed ones are returned with their errors.

    ``scores`` serve the evaluations along training and score every finished run, once its files
    are in place. A failing run does not stop the others, unless several processes train it
    together: they cannot go on when one of them has lost step.
    """
    corpora: dict[Path, Corpus] = {}
    failed: list[tuple[RunRequest, OlmixError]] = []
    show = ProgressLine(runs, team)
    if scores is not None and runs:
        scores.prepare(runs[0].settings.model)
    for run in runs:
        try:
            score: list[dict[str, Any]] = []  # of the model at hand, if it is trained here
            if finished_run(run.folder, run.settings, team) is None:
                if run.corpus not in corpora:
                    corpora[run.corpus] = Corpus.open(run.corpus)
                train_run(
                    run.settings,
                    corpora[run.corpus],
                    run.folder,
                    state_root,
                    hardware=hardware,
                    evaluate=None if scores is None else scores.of_model,
                    on_scored=None if scores is None else score.append,
                    on_progress=show.step,
                    team=team,
                    reference=run.reference,
                )
            if scores is not None:
                scores.write(run.folder, *score)
        except OlmixError as error:
            if team.count > 1:
                raise
            logger.error("%s: %s", run.folder, error)
            failed.append((run, error))
        team.wait()
        show.run_done(run)
    return failed


class ProgressLine:
    """A line on standard error now and then: runs done, time left, the current loss."""

    EVERY = 5.0

    def __init__(self, runs: list[RunRequest], team: Processes) -> None:
        self.work = {run.folder: _cost(run.settings) for run in runs}
        self.total, self.done, self.runs_done = sum(self.work.values()), 0.0, 0
        self.current = 0.0
        self.silent = not team.first
        self.started = self.shown = time.monotonic()

    def step(self, progress: RunProgress) -> None:
        """Note where the current run stands."""
        self._show(f"step {progress.step}/{progress.steps}, loss {progress.loss:.3f}")

    def run_done(self, run: RunRequest) -> None:
        """Note the end of a run."""
        self.done += self.work[run.folder]
        self.runs_done += 1
        self._show(f"{run.folder.name} done", last=self.runs_done == len(self.work))

    def _show(self, state: str, last: bool = False) -> None:
        now = time.monotonic()
        if self.silent or (now - self.shown < self.EVERY and not last):
            return
        self.shown = now
        spent = now - self.started
        left = f"{spent * (self.total / self.done - 1):.0f} s left" if self.done else "just begun"
        sys.stderr.write(f"{self.runs_done} of {len(self.work)} runs, {left}: {state}\n")


def _cost(settings: RunSettings) -> float:
    """Training work, up to a factor: parameters that are multiplied, times tokens."""
    shape = settings.model
    return (shape.parameters - shape.embedding_parameters) * settings.tokens


def summary(record: dict[str, Any]) -> str:
    """One line about a finished run."""
    loss = record["losses"][-1]["loss"]
    return (
        f"{record['steps']} steps, final loss {loss:.4f}, largest repetition "
        f"{record['largest_repetition']:.3g}, {record['tokens_per_second']:,.0f} tokens/s"
    )
