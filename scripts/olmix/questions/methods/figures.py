"""Figures of the methods: what each gains over natural against what it cost; ours in rounds."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH, PALETTE

__all__ = ["methods", "rounds"]

# How a method comes to its mix -> colour and marker, in the order of the legend.
_WAYS = {
    "no run": (PALETTE[7], "X"),
    "one run": (PALETTE[4], "P"),
    "one or two runs": (PALETTE[1], "s"),
    "online": (PALETTE[2], "^"),
    "rounds": (PALETTE[3], "D"),
    "one swarm": (PALETTE[0], "o"),
}
_APPROACHES = {
    "rounds": ("OlmixBase in rounds", PALETTE[3], "D", 0.985),
    "at once": ("OlmixBase at once", PALETTE[0], "o", 1.015),
}


def methods(answer: Path) -> plt.Figure:
    """Gain over natural against the cost of choosing the mix, a point per method.

    Cost is what is trained besides the target run, in runs of the proxy; intervals are of the mean
    over repeated target runs. Methods that train nothing stand on the left, side by side; one that
    loses more than the best gains is an arrow at the lower edge.
    """
    frame = pd.read_csv(answer / "methods.csv")
    frame = frame[frame["method"] != "natural"].sort_values(["proxy_runs", "gain"])
    places = _places(frame["proxy_runs"].to_numpy())
    figure, (axis, names) = plt.subplots(
        1, 2, figsize=(PAGE_WIDTH, 3.2), width_ratios=[3, 1], layout="constrained"
    )
    axis.axhline(0, color=COLOURS["natural"], linestyle="--", linewidth=0.8)
    axis.annotate("natural", (1, 0), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                  fontsize=6, color=COLOURS["natural"])  # fmt: skip
    # One that loses more than the best gains would leave no room for the others.
    lowest = -1.1 * max(frame["gain"].max(), 1.0)
    for number, (row, place) in enumerate(zip(frame.itertuples(), places, strict=True), start=1):
        colour, marker = _WAYS[row.way]
        if row.gain < lowest:
            axis.annotate(f"{number}: {row.gain:.0f} %", (place, 0.005), xytext=(0, 14),
                          xycoords=("data", "axes fraction"), textcoords="offset points",
                          fontsize=6, color=colour, ha="center",
                          arrowprops={"arrowstyle": "->", "color": colour})  # fmt: skip
            continue
        axis.vlines(place, row.gain_low, row.gain_high, color=colour, linewidth=1)
        axis.scatter(place, row.gain, color=colour, marker=marker, s=22, zorder=3)
        axis.annotate(str(number), (place, row.gain), xytext=(4, 2), textcoords="offset points",
                      fontsize=6)  # fmt: skip
    _cost_axis(axis, frame["proxy_runs"].to_numpy(), places)
    axis.set_ylabel("gain over natural (% of its BPB)")
    _name_methods(names, frame)
    used = [way for way in _WAYS if way in set(frame["way"])]
    handles = [
        plt.Line2D([], [], color=_WAYS[way][0], marker=_WAYS[way][1], linestyle="", markersize=4)
        for way in used
    ]
    figure.legend(handles, used, loc="outside upper center", ncols=len(used), fontsize=6)
    return figure


def _places(costs: np.ndarray) -> np.ndarray:
    """Where costs stand on a logarithmic axis: those of next to nothing in a row left of it."""
    free = costs < 0.05
    places = costs.astype(float)
    places[free] = 0.02 * 10 ** (0.75 * np.arange(free.sum()) / max(1, free.sum()) - 0.5)
    return places


def _cost_axis(axis: plt.Axes, costs: np.ndarray, places: np.ndarray) -> None:
    """A logarithmic axis of proxy runs, with one mark for all that cost next to nothing."""
    axis.set_xscale("log")
    axis.set_xlim(places.min() / 1.4, places.max() * 2)
    paid = costs[costs >= 0.05]
    ticks = [10.0**power for power in range(0, int(np.ceil(np.log10(paid.max()))) + 1)]
    labels = [f"{tick:g}" for tick in ticks]
    free = places[costs < 0.05]
    if len(free):
        ticks, labels = [float(np.sqrt(free.min() * free.max())), *ticks], ["none", *labels]
        axis.axvline(0.12, color="#dddddd", linewidth=0.6)
    axis.set_xticks(ticks, labels)
    axis.minorticks_off()
    axis.set_xlabel("training besides the target run (proxy runs)")


def _name_methods(axis: plt.Axes, frame: pd.DataFrame) -> None:
    """The numbered methods, with what each cost."""
    axis.axis("off")
    axis.set_title("method: proxy runs", fontsize=6, loc="left", pad=0)
    for number, row in enumerate(frame.itertuples(), start=1):
        cost = f"{row.proxy_runs:.3g}" if row.proxy_runs >= 0.05 else "0"
        axis.text(
            0, 1 - number / (len(frame) + 1), f"{number}  {row.label}: {cost}", fontsize=6,
            color=_WAYS[row.way][0], transform=axis.transAxes,
        )  # fmt: skip


def rounds(answer: Path) -> plt.Figure:
    """Gain over natural against proxy runs: ours in rounds, and OlmixBase on as many at once."""
    frame = pd.read_csv(answer / "rounds.csv")
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.4), layout="constrained")
    for approach, (label, colour, marker, shift) in _APPROACHES.items():
        part = frame[frame["approach"] == approach].sort_values("runs")
        # Beside each other, so that both intervals can be seen.
        place = part["runs"] * shift
        axis.vlines(place, part["gain_low"], part["gain_high"], color=colour, linewidth=1)
        axis.plot(place, part["gain"], color=colour, marker=marker, markersize=4, label=label)
    axis.set_xlabel("proxy runs")
    axis.set_ylabel("gain over natural (% of its BPB)")
    axis.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=2)
    return figure
