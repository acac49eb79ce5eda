"""Figures of the methods: what each gains over natural against what it cost; ours in rounds."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.presentation.strategies import GAIN
from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH, PALETTE
from olmix.presentation.wording import difference

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
# Where a point's number may stand, from the point, in points of print.
_BESIDE = ((8, 3), (-8, 3), (8, -5), (-8, -5), (0, 9), (0, -9))
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
    numbered: dict[int, tuple[float, float]] = {}
    colours = {n: _WAYS[way][0] for n, way in enumerate(frame["way"], start=1)}
    for number, (row, place) in enumerate(zip(frame.itertuples(), places, strict=True), start=1):
        colour, marker = _WAYS[row.way]
        if row.gain < lowest:
            axis.annotate(f"{number}: {difference(row.gain, 0)} %", (place, 0.005), xytext=(0, 14),
                          xycoords=("data", "axes fraction"), textcoords="offset points",
                          fontsize=6, color=colour, ha="center",
                          arrowprops={"arrowstyle": "->", "color": colour})  # fmt: skip
            continue
        axis.vlines(place, row.gain_low, row.gain_high, color=colour, linewidth=1)
        axis.scatter(place, row.gain, color=colour, marker=marker, s=22, zorder=3)
        numbered[number] = (place, row.gain)
    _cost_axis(axis, frame["proxy_runs"].to_numpy(), places)
    axis.set_ylabel(GAIN)
    _name_methods(names, frame)
    used = [way for way in _WAYS if way in set(frame["way"])]
    handles = [
        plt.Line2D([], [], color=_WAYS[way][0], marker=_WAYS[way][1], linestyle="", markersize=4)
        for way in used
    ]
    figure.legend(handles, used, loc="outside upper center", ncols=len(used), fontsize=6)
    _number_points(figure, axis, numbered, colours)
    return figure


def _number_points(
    figure: plt.Figure,
    axis: plt.Axes,
    numbered: Mapping[int, tuple[float, float]],
    colours: Mapping[int, str],
) -> None:
    """Write each point's number beside it in its colour, where no other point or number stands."""
    figure.draw_without_rendering()  # before it, nobody knows where points will be
    point = figure.dpi / 72
    taken = [np.array(place) for place in axis.transData.transform([*numbered.values()])]
    for number, place in zip(numbered, list(taken), strict=True):
        options = [place + point * np.array(offset) for offset in _BESIDE]
        free = [min(np.hypot(*(at - other)) for other in taken) for at in options]
        # The first that has room, else the one that has most.
        best = next((n for n, room in enumerate(free) if room > 7 * point), int(np.argmax(free)))
        axis.annotate(str(number), numbered[number], xytext=_BESIDE[best], fontsize=6,
                      color=colours[number], textcoords="offset points", ha="center",
                      va="center")  # fmt: skip
        taken.append(options[best])


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
    axis.set_ylabel(GAIN)
    axis.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=2)
    return figure
