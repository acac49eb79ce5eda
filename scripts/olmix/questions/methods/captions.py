"""Captions of the mixing methods side by side."""

from pathlib import Path

import pandas as pd

from olmix.files import read_json
from olmix.presentation.wording import listed

__all__ = ["TABLES", "finding", "methods", "rounds"]

TABLES = {
    "methods": "Target BPB, gain over natural, cost and largest repetition by method.",
    "rounds": "Gain over natural against proxy runs, in rounds and at once.",
}


def finding(answer: Path) -> str:
    """What each method gains and costs, largest gain first, and which were left out."""
    summary = read_json(answer / "summary.json")
    gains = dict(sorted(summary["gain"].items(), key=lambda item: -item[1]))
    rows = listed(
        f"{summary['labels'][name]} {gain:+.1f} % ({summary['proxy_runs'][name]:.3g} runs)"
        for name, gain in gains.items()
        if name != "natural"
    )
    left_out = "".join(
        f" {label} is left out: it needs {why}." for label, why in summary["left_out"].items()
    )
    return (
        "Gain over natural, and what was trained besides the target run, in runs of the proxy: "
        f"{rows}.{left_out}"
    )


def methods(answer: Path) -> str:
    """What the figure of the mixing methods shows."""
    return (
        "Gain over the natural mix against the cost of choosing the mix, counted alike for all."
        f"{_intervals(answer)} {finding(answer)}"
    )


def rounds(answer: Path) -> str:
    """What the figure of ours in rounds shows."""
    frame = pd.read_csv(answer / "rounds.csv")
    rows = listed(f"{r.approach} {r.gain:+.1f} % with {r.runs}" for r in frame.itertuples())
    return (
        "Gain over the natural mix against proxy runs, in rounds that ask where laws disagree and "
        f"at once.{_intervals(answer)} In runs: {rows}."
    )


def _intervals(answer: Path) -> str:
    """What the intervals are; nothing where no target run was repeated."""
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    if repeats == 1:
        return ""
    return (
        f" Intervals are 95 % of the mean over {repeats} orders of the target's data; what another "
        "swarm would have given is not in them."
    )
