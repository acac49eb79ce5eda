"""Captions of the mixing methods side by side."""

from pathlib import Path

from olmix.captions.wording import listed, repeated, spoken
from olmix.files import read_json

__all__ = ["TABLES", "finding", "methods"]

TABLES = {"methods": "Target BPB, proxy runs, largest repetition and the seven choices by method."}


def finding(answer: Path) -> str:
    """Target BPB against runs."""
    summary = read_json(answer / "summary.json")
    bpb = dict(sorted(summary["target_bpb"].items(), key=lambda item: item[1]))
    rows = listed(
        f"{spoken(name)} {value:.3f} ({summary['proxy_runs'][name]} runs)"
        for name, value in bpb.items()
    )
    return f"Target BPB, lowest first, and the proxy runs it took: {rows}."


def methods(answer: Path) -> str:
    """The figure."""
    shown = f"Target BPB of what mixing methods propose against their runs.{repeated(answer)}"
    return f"{shown} {finding(answer)}"
