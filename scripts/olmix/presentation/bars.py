"""Bars of means over seeds, from zero on, with every seed as a dot."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

__all__ = ["seed_bars"]


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
