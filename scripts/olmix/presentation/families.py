"""Curves of regression families, each drawn as its entry in the registry says (RQ4)."""

import matplotlib.pyplot as plt
import pandas as pd

from olmix.errors import OlmixError
from olmix.regressors import FAMILIES, Family

__all__ = ["drawn_families", "family_curves", "family_legend"]

# A page is no wider than this many families beside each other.
_LEGEND_COLUMNS = 4


def drawn_families(frame: pd.DataFrame) -> list[Family]:
    """The families that a table has rows of, in the order of every figure."""
    named = set(frame["family"])
    unknown = sorted(named - set(FAMILIES))
    if unknown:
        raise OlmixError(f"regression family '{unknown[0]}' is drawn by nobody: {list(FAMILIES)}")
    return [family for family in FAMILIES.values() if family.name in named]


def family_curves(axis: plt.Axes, frame: pd.DataFrame, *, x: str, y: str) -> None:
    """A curve per family: the mean over seeds, in a band from the lowest to the highest."""
    for family in drawn_families(frame):
        values = frame[frame["family"] == family.name].groupby(x)[y].agg(["mean", "min", "max"])
        axis.fill_between(
            values.index, values["min"], values["max"], color=family.colour, alpha=0.15, linewidth=0
        )
        axis.plot(
            values.index, values["mean"], color=family.colour, marker=family.marker, markersize=3,
            label=f"{family.label} (ours)" if family.ours else family.label,
            linestyle="--" if family.ours else "-",
        )  # fmt: skip


def family_legend(figure: plt.Figure, axis: plt.Axes) -> None:
    """The families of a panel's curves above the whole figure, in rows."""
    handles, labels = axis.get_legend_handles_labels()
    columns = min(len(labels), _LEGEND_COLUMNS)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)
