"""Dots with intervals: BPB and fits, where differences matter and zero is far away."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import t

from olmix.files import read_json
from olmix.presentation.style import COLOURS

__all__ = ["bpb_dots", "distinct_lowest", "interval_of_means", "repeated_interval"]

_LEVEL = 0.95
_PLAIN = "#5f7f9f"


def repeated_interval(errors: pd.Series, repeats: int) -> float | None:
    """Half the width of a 95 % interval of a mean over repeated runs; None for single runs.

    Runs of all mixes scatter alike, so that their standard errors are pooled: a few repetitions of
    one mix alone say little about how far its runs scatter.
    """
    known = errors.dropna()
    if repeats < 2 or known.empty:
        return None
    freedom = len(known) * (repeats - 1)
    return float(np.sqrt((known**2).mean()) * t.ppf((1 + _LEVEL) / 2, freedom))


def interval_of_means(answer: Path, table: str, column: str) -> float | None:
    """`repeated_interval` of the standard errors in a column of an answer's table."""
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    if repeats < 2:
        return None
    return repeated_interval(pd.read_csv(answer / f"{table}.csv")[column], repeats)


def distinct_lowest(values: ArrayLike, half: float | None) -> int | None:
    """Which value is the lowest, if its interval overlaps no other's."""
    heights = np.asarray(values, dtype=float)
    if half is None or len(heights) < 2:
        return None
    first, second = np.argsort(heights)[:2]
    return int(first) if heights[second] - heights[first] > 2 * half else None


def bpb_dots(
    axis: plt.Axes,
    labels: Sequence[str],
    values: ArrayLike,
    half: float | None = None,
    *,
    colours: Sequence[str] | None = None,
    markers: Sequence[str] | None = None,
) -> None:
    """A dot for each label, with its interval and its value beside it.

    ``half`` is half the width of every interval. ``colours`` and ``markers`` are for things that
    have their own; without them the lowest value stands out where its interval overlaps no other.
    """
    heights = np.asarray(values, dtype=float)
    lowest = distinct_lowest(heights, half)
    for place, value in enumerate(heights):
        plain = COLOURS["proposed"] if place == lowest else _PLAIN
        axis.errorbar(
            place, value, half, color=colours[place] if colours else plain,
            marker=markers[place] if markers else "o", markersize=5, capsize=2, elinewidth=1,
        )  # fmt: skip
        axis.annotate(
            f"{value:.3f}", (place, value), ha="left", va="center", fontsize=6,
            xytext=(5, 0), textcoords="offset points",
        )  # fmt: skip
    low, high = heights.min() - (half or 0), heights.max() + (half or 0)
    room = 0.1 * max(high - low, 0.004 * abs(high))
    axis.set_ylim(low - room, high + room)
    axis.locator_params(axis="y", nbins=6)
    axis.set_xlim(-0.5, len(heights) - 0.2)
    axis.set_xticks(range(len(heights)), labels)
