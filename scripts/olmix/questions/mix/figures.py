"""Figures of one's own mix: its weights, its measured gain, and the gain task by task."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.files import read_json
from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PALETTE
from olmix.questions.mix.plan import KEPT, NATURAL, UNIFORM

__all__ = ["mix", "mix_gain", "mix_tasks"]

LABELS = {NATURAL: "natural mix", UNIFORM: "uniform mix", KEPT: "mix before the update"}
_OVER = {NATURAL: COLOURS["natural"], UNIFORM: PALETTE[1], KEPT: PALETTE[2]}


def mix(answer: Path) -> plt.Figure:
    """Proposed weights with intervals and caps, beside the natural ones."""
    frame = pd.read_csv(answer / "mix.csv").sort_values("weight", ignore_index=True)
    rows = np.arange(len(frame))
    figure, axis = plt.subplots(
        figsize=(COLUMN_WIDTH * 1.25, 0.24 * len(frame) + 1.2), layout="constrained"
    )
    axis.barh(rows + 0.19, frame["weight"], 0.38, color=COLOURS["proposed"], label="proposed")
    axis.barh(rows - 0.19, frame["natural"], 0.38, color=COLOURS["natural"], label="natural")
    if frame["low"].notna().all():
        # The interval need not contain the proposal; error bars may not be negative.
        errors = np.clip([frame["weight"] - frame["low"], frame["high"] - frame["weight"]], 0, None)
        axis.errorbar(
            frame["weight"], rows + 0.19, xerr=errors, fmt="none", ecolor=COLOURS["interval"],
            elinewidth=0.7, capsize=1.5, label=_interval(answer),
        )  # fmt: skip
    right = axis.get_xlim()[1]
    shown = frame[frame["cap"] <= right]
    if len(shown):
        axis.scatter(
            shown["cap"], shown.index, marker="|", s=70, color=COLOURS["cap"], linewidths=1.4,
            zorder=3, label="repetition cap",
        )  # fmt: skip
    axis.set_yticks(rows, frame["domain"])
    axis.set_ylim(-0.6, len(frame) - 0.4)
    axis.set_xlim(0, right)
    axis.set_xlabel("weight in the mix (share of tokens)")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def mix_gain(answer: Path) -> plt.Figure:
    """What target runs measured: BPB saved over each other mix, with its interval."""
    frame = pd.read_csv(answer / "gains.csv")[::-1].reset_index(drop=True)
    figure, axis = plt.subplots(
        figsize=(COLUMN_WIDTH * 1.25, 0.34 * len(frame) + 0.75), layout="constrained"
    )
    for row in frame.itertuples():
        _dot(axis, row, row.Index, _OVER[row.over])
    axis.axvline(0, color="#666666", linewidth=0.6)
    axis.set_yticks(range(len(frame)), [f"over {LABELS[name]}" for name in frame["over"]])
    axis.set_ylim(-0.6, len(frame) - 0.4)
    axis.set_xlabel(f"measured gain of the proposed mix (% of BPB), {_interval(answer)}")
    return figure


def mix_tasks(answer: Path) -> plt.Figure:
    """What target runs measured, task by task: where the mix gains and what it pays with."""
    frame = pd.read_csv(answer / "tasks.csv")
    tasks = list(dict.fromkeys(frame["task"]))[::-1]
    others = list(dict.fromkeys(frame["over"]))
    figure, axis = plt.subplots(
        figsize=(COLUMN_WIDTH * 1.25, 0.3 * len(tasks) + 1.0), layout="constrained"
    )
    for number, other in enumerate(others):
        part = frame[frame["over"] == other]
        for row in part.itertuples():
            height = tasks.index(row.task) + 0.18 * ((len(others) - 1) / 2 - number)
            _dot(axis, row, height, _OVER[other])
        axis.plot([], [], "o", markersize=3.5, color=_OVER[other], label=f"over {LABELS[other]}")
    axis.axvline(0, color="#666666", linewidth=0.6)
    axis.set_yticks(range(len(tasks)), tasks)
    axis.set_ylim(-0.6, len(tasks) - 0.4)
    axis.set_xlabel(f"measured gain of the proposed mix (% of BPB), {_interval(answer)}")
    axis.set_ylabel("task")
    figure.legend(loc="outside upper center", ncols=len(others))
    return figure


def _dot(axis: plt.Axes, row: pd.Series, height: float, colour: str) -> None:
    if not np.isnan(row.low):
        axis.plot([row.low, row.high], [height, height], color=colour, linewidth=1.2)
    axis.plot(row.gain, height, "o", markersize=3.5, color=colour)


def _interval(answer: Path) -> str:
    return f"{100 * read_json(answer / 'summary.json')['level']:g} % interval"
