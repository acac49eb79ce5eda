"""Figure of the operators, each alone: performance gap and distance to full recomputation."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.plots.bars import seed_bars
from olmix.plots.style import COLOURS, PAGE_WIDTH

__all__ = ["operators"]

LABELS = {"natural": "natural", "full_mixture_reuse": "full mixture reuse"}


def operators(answer: Path) -> plt.Figure:
    """Relative performance gap (left) and total variation distance (right)."""
    frame = pd.read_csv(answer / "operators.csv")
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.4), layout="constrained")
    colours = {label: COLOURS[name] for name, label in LABELS.items()}
    frame["strategy"] = frame["strategy"].map(LABELS)
    for axis, column, label in (
        (axes[0], "gap", "gap to full recomputation\n(% of BPB)"),
        (axes[1], "tv", "total variation distance\nto full recomputation"),
    ):
        seed_bars(axis, frame, place="operator", series="strategy", value=column, colours=colours)
        axis.set_ylabel(label)
    axes[1].set_ylim(bottom=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure
