"""Figure of the operators, each alone: performance gap and distance to full recomputation."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.bars import seed_bars
from olmix.presentation.style import COLOURS, PAGE_WIDTH
from olmix.study.chain import NATURAL
from olmix.updates.strategies import FULL_MIXTURE_REUSE

__all__ = ["operators"]

LABELS = {NATURAL: "natural", FULL_MIXTURE_REUSE.name: FULL_MIXTURE_REUSE.label}


def operators(answer: Path) -> plt.Figure:
    """Each operator alone: performance gap (left) and distance to full recomputation (right)."""
    frame = pd.read_csv(answer / "operators.csv")
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.4), layout="constrained")
    colours = {
        LABELS[NATURAL]: COLOURS["natural"],
        FULL_MIXTURE_REUSE.label: FULL_MIXTURE_REUSE.colour,
    }
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
