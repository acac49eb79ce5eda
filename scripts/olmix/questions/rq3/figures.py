"""Figure of RQ3: sparse and dense swarms."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.presentation.bars import bpb_bars, either_side
from olmix.presentation.style import COLOURS, PAGE_WIDTH
from olmix.questions.rq3.plan import DISTRIBUTIONS, LEVELS

__all__ = ["swarm_distribution"]

TITLES = {"topics": "topic level", "sources": "source level"}
BAR = 0.35


def swarm_distribution(answer: Path) -> plt.Figure:
    """Target BPB (left, an axis per level: their BPB differ more than the swarms), fit (right)."""
    frame = pd.read_csv(answer / "swarm_distribution.csv").set_index(["level", "distribution"])
    figure, axes = plt.subplots(
        1, 3, figsize=(PAGE_WIDTH * 0.8, 2.1), width_ratios=(1, 1, 1.8), layout="constrained"
    )
    colours = [COLOURS[kind] for kind in DISTRIBUTIONS]
    for axis, level in zip(axes, LEVELS, strict=False):
        part = frame.loc[level].loc[list(DISTRIBUTIONS)]
        errors = either_side(part["measured_error"])
        bpb_bars(axis, DISTRIBUTIONS, part["measured_bpb"], errors=errors, colours=colours)
        axis.set_title(TITLES[level])
    axes[0].set_ylabel("average BPB of the target")
    _fit_bars(axes[2], frame)
    return figure


def _fit_bars(axis: plt.Axes, frame: pd.DataFrame) -> None:
    """Bars of the fit grouped by level, with the interval over the held-out mixes."""
    places = np.arange(len(LEVELS))
    for index, kind in enumerate(DISTRIBUTIONS):
        part = frame.xs(kind, level="distribution").loc[list(LEVELS)]
        # A percentile interval may leave its estimate out; error bars may not be negative.
        below, above = part["fit"] - part["fit_low"], part["fit_high"] - part["fit"]
        axis.bar(
            places + (index - 0.5) * BAR, part["fit"], width=BAR * 0.95, color=COLOURS[kind],
            yerr=np.clip([below, above], 0, None), capsize=2, ecolor="#333333", label=kind,
        )  # fmt: skip
    lowest = min(0.0, float(frame["fit_low"].min()))
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set_ylim(1.05 * lowest, 1.0)
    axis.set_xticks(places, [TITLES[level] for level in LEVELS])
    axis.set_ylabel("regression fit (mean Pearson)")
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
