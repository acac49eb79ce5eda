"""Curves of the error of proposed mixes against the size of their swarm (RQ2)."""

from collections.abc import Iterable
from itertools import cycle

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.style import PALETTE

__all__ = ["error_curves"]

_MARKERS = ("o", "s", "D", "^", "v", "P")


def error_curves(axis: plt.Axes, curves: pd.DataFrame, counts: Iterable[int] | None = None) -> None:
    """A curve of the mean error against c for each m, in a band from the lowest to the highest.

    ``counts`` are all m that get a look of their own.
    """
    counts = sorted(curves["domains"].unique() if counts is None else counts)
    for m, colour, marker in zip(counts, cycle(PALETTE), cycle(_MARKERS), strict=False):
        curve = curves[curves["domains"] == m].sort_values("multiplier")
        if curve.empty:
            continue
        axis.fill_between(
            curve["multiplier"], curve["lowest"], curve["highest"], color=colour, alpha=0.15, lw=0
        )
        axis.plot(
            curve["multiplier"], curve["error"], color=colour, markersize=3.5, marker=marker,
            label=f"m = {m}",
        )  # fmt: skip
    axis.set_xlabel("c, for swarms of K = c(m + 1) runs")
