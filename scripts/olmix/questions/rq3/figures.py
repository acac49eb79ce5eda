"""Figure of RQ3: sparse and dense swarms."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.files import read_json
from olmix.presentation.dots import bpb_dots, repeated_interval
from olmix.presentation.style import COLOURS, PAGE_WIDTH
from olmix.questions.rq3.plan import DISTRIBUTIONS, LEVELS

__all__ = ["swarm_distribution"]

TITLES = {"topics": "topic level", "sources": "source level"}
# How far sparse and dense stand left and right of their level's place.
BESIDE = 0.12


def swarm_distribution(answer: Path) -> plt.Figure:
    """Target BPB (left, an axis per level: their BPB differ more than the swarms), fit (right)."""
    frame = pd.read_csv(answer / "swarm_distribution.csv")
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    half = repeated_interval(frame["measured_error"], repeats)
    frame = frame.set_index(["level", "distribution"])
    figure, axes = plt.subplots(
        1, 3, figsize=(PAGE_WIDTH * 0.8, 2.0), width_ratios=(1, 1, 1.6), layout="constrained"
    )
    colours = [COLOURS[kind] for kind in DISTRIBUTIONS]
    for axis, level in zip(axes, LEVELS, strict=False):
        part = frame.loc[level].loc[list(DISTRIBUTIONS)]
        bpb_dots(axis, DISTRIBUTIONS, part["measured_bpb"], half, colours=colours)
        axis.set_title(TITLES[level])
    axes[0].set_ylabel("average BPB of the target")
    _fits(axes[2], frame)
    return figure


def _fits(axis: plt.Axes, frame: pd.DataFrame) -> None:
    """The fit of both swarms at each level, with the interval over the held-out mixes."""
    places = np.arange(len(LEVELS))
    for kind, beside in zip(DISTRIBUTIONS, (-BESIDE, BESIDE), strict=True):
        part = frame.xs(kind, level="distribution").loc[list(LEVELS)]
        # A percentile interval may leave its estimate out; error bars may not be negative.
        below, above = part["fit"] - part["fit_low"], part["fit_high"] - part["fit"]
        axis.errorbar(
            places + beside, part["fit"], np.clip([below, above], 0, None), fmt="o", markersize=5,
            color=COLOURS[kind], capsize=2, elinewidth=1, label=kind,
        )  # fmt: skip
    axis.axhline(0, color="#666666", linewidth=0.6, linestyle=":")
    axis.set_ylim(top=1.0)
    axis.set_xlim(-0.5, len(LEVELS) - 0.5)
    axis.set_xticks(places, [TITLES[level] for level in LEVELS])
    axis.set_ylabel("fit (mean Pearson)")
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
