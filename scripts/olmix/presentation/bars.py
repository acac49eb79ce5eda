"""Bars: of BPB, where lower is better and small differences matter, and of means over seeds."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from olmix.presentation.style import COLOURS

__all__ = ["bpb_bars", "either_side", "seed_bars"]


def either_side(errors: pd.Series) -> tuple[np.ndarray, np.ndarray] | None:
    """Standard errors as the ``errors`` of `bpb_bars`; None where single runs were measured."""
    return None if errors.isna().all() else (errors.to_numpy(), errors.to_numpy())


def bpb_bars(
    axis: plt.Axes,
    labels: Sequence[str],
    values: ArrayLike,
    *,
    errors: tuple[np.ndarray, np.ndarray] | None = None,
    colours: Sequence[str] | None = None,
    highlight: int | None = None,
) -> None:
    """Bars with their values written on top, and an axis cut so that differences show.

    ``errors`` are (below, above) each value. ``highlight`` marks the best bar; ``colours`` are for
    bars that stand for something with a colour of its own.
    """
    heights = np.asarray(values, dtype=float)
    places = np.arange(len(heights))
    if colours is None:
        colours = [COLOURS["proposed"] if i == highlight else "#b0c4d8" for i in places]
    axis.bar(places, heights, width=0.7, color=colours, yerr=errors, capsize=2, ecolor="#333333")
    low, high = heights.min(), heights.max()
    if errors is not None:
        low, high = (heights - errors[0]).min(), (heights + errors[1]).max()
    room = max(high - low, 0.004 * high)
    axis.set_ylim(low - 0.5 * room, high + 0.35 * room)
    for place, value in zip(places, heights, strict=True):
        above = errors[1][place] if errors is not None else 0.0
        axis.annotate(
            f"{value:.3f}", (place, value + above), ha="center", va="bottom", fontsize=6,
            xytext=(0, 1), textcoords="offset points",
        )  # fmt: skip
    axis.set_xticks(places, labels)


def seed_bars(
    axis: plt.Axes,
    frame: pd.DataFrame,
    *,
    place: str,
    series: str,
    value: str,
    colours: Mapping[str, str],
    places: Sequence[str] | None = None,
) -> None:
    """Groups of bars, one per place and series: the mean over seeds, with every seed as a dot.

    ``place``, ``series`` and ``value`` are columns; ``colours`` gives the series, in order.
    """
    places = list(dict.fromkeys(frame[place])) if places is None else list(places)
    width = 0.8 / len(colours)
    for number, (name, colour) in enumerate(colours.items()):
        part = frame[frame[series] == name].groupby(place, sort=False)[value]
        where = np.arange(len(places)) + (number - (len(colours) - 1) / 2) * width
        means = part.mean().reindex(places)
        axis.bar(where, means, 0.92 * width, color=colour, label=name)
        for position, label in zip(where, places, strict=True):
            dots = part.get_group(label) if label in part.groups else []
            # An edge of the bar's other colour keeps a dot visible on any bar.
            axis.scatter(
                np.full(len(dots), position), dots, s=9, color="#333333", edgecolor="white",
                linewidth=0.4, zorder=3,
            )  # fmt: skip
    axis.axhline(0, color="#666666", linewidth=0.6)
    axis.set_xticks(range(len(places)), places)
    # Where a value is undefined there is no bar, and its place stays empty.
    axis.set_xlim(-0.55, len(places) - 0.45)
