"""Figures of RQ2: error against swarm size, in multiples of m + 1."""

from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.style import COLUMN_WIDTH, PALETTE

__all__ = ["swarm_size", "swarm_size_target"]

MARKERS = ("o", "s", "D", "^", "v", "P")


def swarm_size(answer: Path) -> plt.Figure:
    """Error of the proposed mix, measured with the proxy: a curve per number of domains."""
    return _errors(answer, "swarm_size", "error of the proxy (BPB)")


def swarm_size_target(answer: Path) -> plt.Figure:
    """Error of the proposed mix, measured with the target, for the smallest and the largest m."""
    return _errors(answer, "swarm_size_target", "error of the target (BPB)")


def _errors(answer: Path, name: str, label: str) -> plt.Figure:
    """Draw the mean error over the seeds, with a band from the lowest to the highest."""
    curves = pd.read_csv(answer / f"{name}.csv")
    # The same colour for the same number of domains in both figures.
    counts = sorted(pd.read_csv(answer / "swarm_size.csv")["domains"].unique())
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.3), layout="constrained")
    for m, colour, marker in zip(counts, cycle(PALETTE), cycle(MARKERS), strict=False):
        curve = curves[curves["domains"] == m].sort_values("multiplier")
        if curve.empty:
            continue
        axis.fill_between(
            curve["multiplier"], curve["lowest"], curve["highest"], color=colour, alpha=0.15, lw=0
        )
        axis.plot(
            curve["multiplier"], curve["error"], color=colour, markersize=3.5, marker=marker,
            label=f"m = {m}",
        )  # fmt: skip
    axis.set_xticks(sorted(curves["multiplier"].unique()))
    axis.set_ylim(bottom=0)
    axis.set_xlabel("c, for swarms of K = c(m + 1) runs")
    axis.set_ylabel(label)
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, handlelength=1.5, columnspacing=1.2
    )
    return figure
