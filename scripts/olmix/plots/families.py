"""How the regression families of RQ4 are called and drawn in every figure."""

import matplotlib.pyplot as plt
import pandas as pd

from olmix.plots.style import COLOURS

__all__ = ["FAMILY_LABELS", "family_curves"]

FAMILY_LABELS = {
    "log_linear": "log-linear",
    "bimix": "BiMix",
    "autoscale": "AutoScale",
    "lightgbm": "LightGBM",
    "gaussian_process": "Gaussian process",
    "search": "search",
}
_MARKERS = dict(zip(FAMILY_LABELS, "osD^vX", strict=True))


def family_curves(axis: plt.Axes, frame: pd.DataFrame, *, x: str, y: str) -> None:
    """A curve per family: the mean over seeds, in a band from the lowest to the highest."""
    for family, label in FAMILY_LABELS.items():
        values = frame[frame["family"] == family].groupby(x)[y].agg(["mean", "min", "max"])
        colour = COLOURS[family]
        axis.fill_between(
            values.index, values["min"], values["max"], color=colour, alpha=0.15, linewidth=0
        )
        axis.plot(
            values.index, values["mean"], color=colour, marker=_MARKERS[family], markersize=3,
            label=label,
        )  # fmt: skip
