"""Captions of fewer runs: what a better law buys."""

from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.presentation.wording import listed, percent, spoken

__all__ = ["TABLES", "fewer_runs", "finding"]

TABLES = {
    "fewer_runs": "Every chain: law, strategy, c, seed, proxy runs over all updates, target BPB, "
    "improvement in per cent of natural's BPB.",
    "fewer_runs_by_law": "Mean improvement with its 95 % interval by law, strategy and c, and the "
    "difference from full recomputation with OlmixBase's law at the largest c.",
}


def finding(answer: Path) -> str:
    """What each law and strategy reaches with m+1 runs, against full recomputation with 3(m+1)."""
    summary = read_json(answer / "summary.json")
    best = summary["yardstick"]
    small = [entry for entry in summary["chains"] if entry["c"] == 1]
    kept = listed(
        f"{_said(entry)} {percent(entry['share_of_yardstick'])} with {entry['proxy_runs']} runs"
        for entry in small
    )
    return (
        f"{_said(best).capitalize()} at c = {best['c']:g} improves on natural by "
        f"{best['mean']:.1f} % ({best['low']:.1f} to {best['high']:.1f}) with "
        f"{best['proxy_runs']} runs. Of that, at c = 1: {kept}."
    )


def fewer_runs(answer: Path) -> str:
    """What the figure of improvement against runs by law shows."""
    return (
        "Improvement over natural against all proxy runs, by strategy and law; mean and 95 % "
        "interval over seeds, each with swarms and a target run of its own. The dotted line is "
        f"full recomputation with OlmixBase's law at its largest swarm. {finding(answer)}"
    )


def _said(entry: dict[str, Any]) -> str:
    return f"{spoken(entry['strategy'])} by {spoken(entry['law'])}"
