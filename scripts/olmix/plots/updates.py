"""Figures of the main results: cost against gain, data efficiency, mixes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.files import read_json
from olmix.plots.strategies import improvement_against_runs
from olmix.plots.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH

__all__ = ["checkpoints", "main_results", "proposed_mixes"]

MIX_LABELS = {
    "natural": "natural",
    "full_recomputation": "full recomputation",
    "partial_mixture_reuse": "partial mixture reuse",
}
# Domains shown: those where full recomputation and natural differ most.
SHOWN = 12


def main_results(answer: Path) -> plt.Figure:
    """Improvement over natural against the total number of proxy runs."""
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.8), layout="constrained")
    frame = pd.read_csv(answer / "main_results_by_strategy.csv")
    improvement_against_runs(axis, frame, pd.read_csv(answer / "main_results.csv"))
    axis.legend(loc="best")
    return figure


def checkpoints(answer: Path) -> plt.Figure:
    """BPB along training of natural and of partial reuse's best seed."""
    curve = pd.read_csv(answer / "checkpoints.csv")
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.1, 2.4), layout="constrained")
    for mix, part in curve.groupby("mix", sort=False):
        axis.plot(part["step"], part["bpb"], marker="o", markersize=3, color=COLOURS[mix],
                  label=MIX_LABELS[mix])  # fmt: skip
    final = curve[curve["mix"] == "natural"]["bpb"].iloc[-1]
    axis.axhline(final, color="#666666", linewidth=0.6, linestyle=":")
    times = read_json(answer / "summary.json")["data_efficiency"]
    if times is not None:
        # At the left the curves are high above the line, so the text is free there.
        axis.annotate(
            f"{times:.2f}x fewer steps",
            (curve["step"].min(), final),
            xytext=(0, 3),
            textcoords="offset points",
            fontsize=7,
        )
    axis.set_xlabel("training step of the target")
    axis.set_ylabel("average BPB")
    axis.legend()
    return figure


def proposed_mixes(answer: Path) -> plt.Figure:
    """Natural, full recomputation and partial reuse on the domains that differ most."""
    mixes = pd.read_csv(answer / "full_domain_mixtures.csv").set_index("domain")
    change = (mixes["full_recomputation"] - mixes["natural"]).abs()
    mixes = mixes.loc[change.sort_values(ascending=False).index[:SHOWN]]
    places = np.arange(len(mixes))
    figure, axis = plt.subplots(figsize=(PAGE_WIDTH, 2.6), layout="constrained")
    for offset, (name, label) in zip((-0.27, 0.0, 0.27), MIX_LABELS.items(), strict=True):
        axis.bar(places + offset, mixes[name], 0.26, color=COLOURS[name], label=label)
    axis.set_xticks(places, mixes.index, rotation=35, ha="right")
    axis.set_ylabel("weight in the mix")
    axis.legend()
    return figure
