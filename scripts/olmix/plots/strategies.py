"""Improvement over natural against total proxy runs: one point per strategy and multiplier."""

import matplotlib.pyplot as plt
import pandas as pd

from olmix.plots.style import COLOURS

__all__ = ["LABELS", "improvement_against_runs"]

LABELS = {
    "full_recomputation": "full recomputation",
    "swarm_reuse": "swarm reuse",
    "full_mixture_reuse": "full mixture reuse",
    "partial_mixture_reuse": "partial mixture reuse",
    "auto_partial_reuse": "auto partial reuse",
}
MARKERS = {
    "full_recomputation": "o",
    "swarm_reuse": "s",
    "full_mixture_reuse": "^",
    "partial_mixture_reuse": "D",
    "auto_partial_reuse": "*",
}


def improvement_against_runs(axis: plt.Axes, frame: pd.DataFrame, seeds: pd.DataFrame) -> None:
    """Means joined over c, a bar from the lowest to the highest seed, and the seeds as dots."""
    for strategy, label in LABELS.items():
        part = frame[frame["strategy"] == strategy].sort_values("proxy_runs")
        if part.empty:
            continue
        colour, marker = COLOURS[strategy], MARKERS[strategy]
        size = 9 if marker == "*" else 5
        axis.errorbar(
            part["proxy_runs"], part["mean"],
            yerr=[part["mean"] - part["low"], part["high"] - part["mean"]],
            color=colour, marker=marker, markersize=size, capsize=2, elinewidth=0.8, label=label,
        )  # fmt: skip
        dots = seeds[seeds["strategy"] == strategy]
        axis.scatter(dots["proxy_runs"], dots["improvement"], s=4, color=colour, alpha=0.5)
    axis.set_xlabel("proxy runs over all updates")
    axis.set_ylabel("improvement over natural (%)")
