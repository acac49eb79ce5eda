"""Bars of BPB, where lower is better and small differences matter."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from olmix.plots.style import COLOURS

__all__ = ["bpb_bars"]


def bpb_bars(
    axis: plt.Axes,
    labels: Sequence[str],
    values: Sequence[float],
    *,
    errors: tuple[Sequence[float], Sequence[float]] | None = None,
    colours: Sequence[str] | None = None,
    highlight: int | None = None,
) -> None:
    """Bars with their values written on top, and an axis cut so that differences show.

    ``errors`` are (below, above) each value. ``highlight`` marks the best bar; ``colours`` are for
    bars that stand for something with a colour of its own.
    """
    values = np.asarray(values, dtype=float)
    places = np.arange(len(values))
    if colours is None:
        colours = [COLOURS["proposed"] if i == highlight else "#b0c4d8" for i in places]
    axis.bar(places, values, width=0.7, color=colours, yerr=errors, capsize=2, ecolor="#333333")
    low, high = values.min(), values.max()
    if errors is not None:
        low, high = (values - errors[0]).min(), (values + errors[1]).max()
    room = max(high - low, 0.004 * high)
    axis.set_ylim(low - 0.5 * room, high + 0.35 * room)
    for place, value in zip(places, values, strict=True):
        above = errors[1][place] if errors is not None else 0.0
        axis.annotate(
            f"{value:.3f}", (place, value + above), ha="center", va="bottom", fontsize=6,
            xytext=(0, 1), textcoords="offset points",
        )  # fmt: skip
    axis.set_xticks(places, labels)
