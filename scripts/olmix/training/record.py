"""The record of a finished run: what ``run.json`` says of it."""

import os
import platform
from datetime import UTC, datetime
from typing import Any

import torch

from olmix import __version__
from olmix.corpus.mixing import MixedData
from olmix.provenance.environment import commit
from olmix.training.passes import Passes
from olmix.training.settings import RunSettings

__all__ = ["data_record", "run_provenance", "settings_record"]


def settings_record(settings: RunSettings) -> dict[str, Any]:
    """What the run was asked to be."""
    return {
        "hash": settings.hash,
        "settings": settings.to_dict(),
        "parameters": settings.model.parameters,
        "steps": settings.steps,
    }


def data_record(data: MixedData) -> dict[str, Any]:
    """What the run has read."""
    return {
        "mix": {"requested": data.requested, "realised": data.realised},
        "schedule": [
            {"until_token": end, "mix": mix} for end, mix in zip(data.ends, data.mixes, strict=True)
        ],
        "seen": {"tokens": data.counts, "epochs": data.repetition},
        "largest_repetition": data.largest_repetition,
    }


def run_provenance(passes: Passes) -> dict[str, Any]:
    """Where, when and with what the run was computed."""
    return {
        "host": platform.node(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": passes.team.device.type,
        "processes": passes.team.count,
        "shards": passes.shards,
        "precision": "bfloat16" if passes.bfloat16 else "float32",
        "versions": {
            "olmix": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
        },
        "commit": commit(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
    }
