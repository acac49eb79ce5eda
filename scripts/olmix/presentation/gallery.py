"""The pictures and numbers of README.md and docs/: PNGs, and numbers.json beside them.

`snakemake gallery` writes both from the results, and then the blocks of `olmix.presentation.blocks`
from the numbers.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from olmix.cost.timing import job_seconds
from olmix.files import read_json, replacing
from olmix.presentation.captions import finding

__all__ = ["cost_column", "result_numbers", "shrink", "time_spent"]


def shrink(source: Path, out: Path) -> None:
    """A figure's pixels as a small PNG: no transparency, and nothing blurred by another size."""
    with Image.open(source) as image:
        small = image.convert("RGB")
    with replacing(out) as temporary:
        small.save(temporary, optimize=True)


def result_numbers(results: Path, answers: Iterable[str]) -> dict[str, Any]:
    """What is quoted of the results themselves; the same results give the same numbers."""
    provenance = read_json(results / "updates" / "provenance.json")
    return {
        "scale": provenance["scale"],
        "commit": provenance["commit"],
        "notice": provenance.get("notice"),
        "seeds": provenance["seeds"],
        "target_repeats": provenance["target_repeats"],
        "system": provenance["system"].partition("-")[0],
        "python": provenance["python"],
        "versions": provenance["versions"],
        "updates": read_json(results / "updates" / "summary.json"),
        "noise": _noise(results / "noise" / "noise.csv"),
        "findings": {name: finding(name, results / name) for name in answers},
    }


def _noise(path: Path) -> list[dict[str, Any]]:
    """How far runs of one mix scatter, a row per model and mix; none where it was not asked."""
    if not path.is_file():
        return []
    return pd.read_csv(path)[["model", "mix", "seeds", "sd", "percent"]].to_dict("records")


def cost_column(path: Path, column: str) -> dict[str, float]:
    """A column of a scale's cost report by question; empty if there is no report."""
    if not path.is_file():
        return {}
    frame = pd.read_csv(path)
    return dict(zip(frame["question"], frame[column].astype(float), strict=True))


def time_spent(benchmarks: Path) -> dict[str, float]:
    """How many jobs there were, and the hours that they took together."""
    seconds = job_seconds(benchmarks)
    jobs = sum(len(values) for values in seconds.values())
    return {"jobs": jobs, "hours": sum(sum(values) for values in seconds.values()) / 3600}
