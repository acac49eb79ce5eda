"""Evaluate a finished run: from its folder to the contents of its ``eval.json``."""

import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from olmix import __version__
from olmix.errors import OlmixError
from olmix.evaluation.bpb import arithmetic, evaluate
from olmix.evaluation.tokens import TokenisedSuite
from olmix.files import read_json
from olmix.model.weights import load_model, read_metadata

if TYPE_CHECKING:
    from olmix.training.distributed import Processes

__all__ = ["check_run", "evaluate_run", "of_run"]


def check_run(run_folder: str | Path, suite: TokenisedSuite) -> str:
    """The settings hash of a finished run that was trained with the suite's tokenizer.

    Cheap (no weights are read), so that many runs can be checked before the first is scored.
    """
    run_folder = Path(run_folder)
    if not (run_folder / "run.json").is_file():
        raise OlmixError(f"{run_folder}: not a finished run (expected run.json in it)")
    run = read_json(run_folder / "run.json")
    weights = run_folder / "weights.safetensors"
    settings_hash = read_metadata(weights).get("settings_hash", "")
    if settings_hash != run.get("hash"):
        raise OlmixError(
            f"{weights}: made by the settings {settings_hash!r}, but run.json beside it says "
            f"{run.get('hash')!r}"
        )
    trained_with = run.get("settings", {}).get("tokenizer")
    if trained_with != suite.tokenizer_sha256:
        raise OlmixError(
            f"{suite.tokenizer_path}: sha256 is {suite.tokenizer_sha256}, but {run_folder} was "
            f"trained with tokenizer {trained_with}"
        )
    return settings_hash


def evaluate_run(
    run_folder: str | Path,
    suite: TokenisedSuite,
    *,
    device: str | torch.device = "cpu",
    batch_tokens: int = 4096,
    max_instances: int | None = None,
    precision: str = "auto",
    on_progress: Callable[[int, int], None] | None = None,
    team: "Processes | None" = None,
) -> dict[str, Any]:
    """Score a run's final weights, as `evaluate` does; the result is what ``eval.json`` holds."""
    settings_hash = check_run(run_folder, suite)
    score = evaluate(
        load_model(Path(run_folder) / "weights.safetensors", device),
        suite,
        device=device,
        batch_tokens=batch_tokens,
        max_instances=max_instances,
        precision=precision,
        on_progress=on_progress,
        team=team,
    )
    return of_run(score, settings_hash, device, precision)


def of_run(
    score: dict[str, Any], settings_hash: str, device: str | torch.device, precision: str
) -> dict[str, Any]:
    """A model's score with the run it is of, and where, when and with what it was computed."""
    provenance = {
        "host": platform.node(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": str(device),
        "precision": arithmetic(precision, device),
        "versions": {
            "olmix": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "tokenizers": version("tokenizers"),
        },
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
    }
    return score | {"run": settings_hash, "provenance": provenance}
