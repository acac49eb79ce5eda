"""Scores of the runs of a job: along training, and of finished runs in their ``eval.json``.

All processes of the job score together, each some of the batches.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from olmix.evaluation.bpb import evaluate
from olmix.evaluation.runs import check_run, evaluate_run, of_run
from olmix.evaluation.suite import Suite
from olmix.evaluation.tokens import TokenisedSuite
from olmix.files import read_json, write_json
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer
from olmix.training.distributed import Processes

__all__ = ["Scores"]


class Scores:
    """The suite that a job's runs are scored on, and how."""

    def __init__(
        self,
        suite: str | Path,
        tokenizer: str | Path,
        team: Processes,
        *,
        batch_tokens: int,
        max_instances: int | None,
        precision: str = "auto",
    ) -> None:
        self.suite, self.team = TokenisedSuite(Suite.open(suite), tokenizer), team
        self.max_instances = max_instances
        self._options: dict[str, Any] = {
            "device": team.device,
            "batch_tokens": batch_tokens,
            "max_instances": max_instances,
            "precision": precision,
            "team": team,
        }
        self._ready: Future[Any] | None = None

    def prepare(self, shape: ModelShape) -> None:
        """Tokenise the suite beside training, so that no GPU waits for it; on a CPU, when asked."""
        if self.team.device.type == "cuda":
            pool = ThreadPoolExecutor(1, thread_name_prefix="suite")
            size, few = self._options["batch_tokens"], self.max_instances
            self._ready = pool.submit(self.suite.batches, shape.context_length, size, few)
            pool.shutdown(wait=False)

    def of_model(self, model: Transformer) -> dict[str, Any]:
        """The score of a model that every process holds."""
        if self._ready is not None:
            self._ready.result()
        return evaluate(model, self.suite, **self._options)

    def write(self, folder: Path, score: dict[str, Any] | None = None) -> None:
        """Put ``eval.json`` beside a finished run: ``score``, or one of its weights."""
        if score is None:
            if self.team.first_says(self.team.first and self._is_there(folder)):
                return
            result = evaluate_run(folder, self.suite, **self._options)
        elif self.team.first:  # the run is new, and other nodes may not see its files yet
            settings_hash = check_run(folder, self.suite)
            result = of_run(score, settings_hash, self.team.device, self._options["precision"])
        if self.team.first:
            write_json(folder / "eval.json", result)

    def _is_there(self, folder: Path) -> bool:
        """Whether the run has been scored on this suite before."""
        if not (folder / "eval.json").is_file():
            return False
        old, suite = read_json(folder / "eval.json"), self.suite.suite
        same = {
            "run": check_run(folder, self.suite),
            "suite": {"name": suite.name, "hash": suite.hash},
            "subsampled": self.max_instances,
        }
        return all(old.get(key, ...) == value for key, value in same.items())
