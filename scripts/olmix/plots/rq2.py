"""Figures of RQ2: error against swarm size, in multiples of m + 1."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.plots.style import COLUMN_WIDTH

__all__ = ["swarm_size", "swarm_size_target"]

MARKERS = "osD^vP"


def swarm_size(answer: Path) -> plt.Figure:
    """Error of the proposed mix, measured with the proxy: a curve per number of domains."""
    return _errors(answer / "swarm_size.csv", "error of the proxy (BPB)")


def swarm_size_target(answer: Path) -> plt.Figure:
    """The same measured with the target, for the smallest and the largest number of domains."""
    return _errors(answer / "swarm_size_target.csv", "error of the target (BPB)")


def _errors(table: Path, label: str) -> plt.Figure:
    """Mean over the seeds, with a band from the lowest to the highest."""
    curves = pd.read_csv(table)
    counts = sorted(curves["domains"].unique())
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.3), layout="constrained")
    # The number of domains is ordered, so the colours are: dark for few, light for many.
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, len(counts)))
    for index, (m, colour) in enumerate(zip(counts, colours, strict=True)):
        curve = curves[curves["domains"] == m].sort_values("multiplier")
        axis.fill_between(
            curve["multiplier"], curve["lowest"], curve["highest"], color=colour, alpha=0.15, lw=0
        )
        axis.plot(
            curve["multiplier"], curve["error"], color=colour, markersize=3.5,
            marker=MARKERS[index % len(MARKERS)], label=f"m = {m}",
        )  # fmt: skip
    axis.set_xticks(sorted(curves["multiplier"].unique()))
    axis.set_ylim(bottom=0)
    axis.set_xlabel("c, for swarms of K = c(m + 1) runs")
    axis.set_ylabel(label)
    axis.legend(title="domains", title_fontsize=7)
    return figure
