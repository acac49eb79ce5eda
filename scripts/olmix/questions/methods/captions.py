"""Captions of the mixing methods side by side."""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import listed, repeated

__all__ = ["TABLES", "finding", "methods"]

TABLES = {"methods": "Target BPB, proxy runs, largest repetition and the seven choices by method."}


def finding(answer: Path) -> str:
    """What each method reaches, and with how many runs."""
    summary = read_json(answer / "summary.json")
    bpb = dict(sorted(summary["target_bpb"].items(), key=lambda item: item[1]))
    rows = listed(
        f"{summary['labels'][name]} {value:.3f} ({summary['proxy_runs'][name]} runs)"
        for name, value in bpb.items()
    )
    return f"Target BPB, lowest first, and the proxy runs it took: {rows}."


def methods(answer: Path) -> str:
    """What the figure of the mixing methods shows."""
    shown = f"Target BPB of what mixing methods propose against their runs.{repeated(answer)}"
    return f"{shown} {finding(answer)}"
