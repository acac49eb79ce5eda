"""Figures of the main results: cost against gain, data efficiency, mixes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.files import read_json
from olmix.presentation.strategies import improvement_against_runs, point_legend
from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH
from olmix.presentation.wording import domain_label
from olmix.study.chain import NATURAL
from olmix.updates.strategies import FULL_RECOMPUTATION, PARTIAL_MIXTURE_REUSE

__all__ = ["checkpoints", "main_results", "proposed_mixes"]

COMPARED = (FULL_RECOMPUTATION, PARTIAL_MIXTURE_REUSE)
LABELS = {NATURAL: "natural"} | {strategy.name: strategy.label for strategy in COMPARED}
MIX_COLOURS = {NATURAL: COLOURS["natural"]} | {s.name: s.colour for s in COMPARED}
# Where the bar of each mix stands beside a domain's place.
OFFSETS = {NATURAL: -0.27, FULL_RECOMPUTATION.name: 0.0, PARTIAL_MIXTURE_REUSE.name: 0.27}
# Domains shown: those where full recomputation and natural differ most.
SHOWN = 12


def main_results(answer: Path) -> plt.Figure:
    """Improvement over natural against the total number of proxy runs."""
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.8), layout="constrained")
    frame = pd.read_csv(answer / "main_results_by_strategy.csv")
    improvement_against_runs(axis, frame, pd.read_csv(answer / "main_results.csv"))
    axis.legend(*point_legend(axis), loc="best")
    return figure


def checkpoints(answer: Path) -> plt.Figure:
    """BPB along training of natural and of partial reuse's best seed."""
    curve = pd.read_csv(answer / "checkpoints.csv")
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.1, 2.4), layout="constrained")
    for mix, part in curve.groupby("mix", sort=False):
        axis.plot(part["step"], part["bpb"], marker="o", markersize=3, color=MIX_COLOURS[mix],
                  label=LABELS[mix])  # fmt: skip
    final = curve[curve["mix"] == NATURAL]["bpb"].iloc[-1]
    axis.axhline(final, color="#666666", linewidth=0.6, linestyle=":")
    times = read_json(answer / "summary.json")["data_efficiency"]
    if times is not None:
        _fewer_steps(axis, curve["step"].max(), times, final)
    axis.set_xlabel("training step of the target")
    axis.set_ylabel("average BPB")
    axis.legend()
    return figure


def _fewer_steps(axis: plt.Axes, last: float, times: float, final: float) -> None:
    """An arrow from natural's last step back to where partial reuse has the same BPB."""
    reached = last / times
    axis.annotate(
        "", (reached, final), (last, final), arrowprops={"arrowstyle": "->", "shrinkA": 0,
        "shrinkB": 0, "linewidth": 1.2, "color": "#333333"},
    )  # fmt: skip
    axis.vlines(reached, axis.get_ylim()[0], final, color="#666666", linewidth=0.6, linestyle=":")
    # Left of where it is reached, both curves are above the line: the text is free there.
    axis.annotate(
        f"{times:.2f} times fewer steps", (reached, final), ha="right", va="top",
        xytext=(-4, -3), textcoords="offset points", fontsize=7,
    )  # fmt: skip


def proposed_mixes(answer: Path) -> plt.Figure:
    """Natural, full recomputation and partial reuse on the domains that differ most."""
    mixes = pd.read_csv(answer / "full_domain_mixtures.csv").set_index("domain")
    change = (mixes[FULL_RECOMPUTATION.name] - mixes[NATURAL]).abs()
    mixes = mixes.loc[change.sort_values(ascending=False).index[:SHOWN]]
    places = np.arange(len(mixes))
    figure, axis = plt.subplots(figsize=(PAGE_WIDTH, 2.6), layout="constrained")
    for name, offset in OFFSETS.items():
        axis.bar(places + offset, mixes[name], 0.26, color=MIX_COLOURS[name], label=LABELS[name])
    axis.set_xticks(places, map(domain_label, mixes.index), rotation=35, ha="right")
    axis.set_ylabel("weight in the mix")
    axis.legend()
    return figure
