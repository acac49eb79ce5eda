"""The figure of fewer runs: improvement against proxy runs by law, a panel per strategy."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import NullLocator

from olmix.files import read_json
from olmix.presentation.strategies import GAIN, point_legend
from olmix.presentation.style import PAGE_WIDTH
from olmix.regressors import FAMILIES
from olmix.updates.strategies import STRATEGIES

__all__ = ["fewer_runs"]

# Laws at the same number of runs stand beside each other: a few per cent apart on the axis.
_APART = 1.05
# Counts closer than this on the logarithmic axis share a tick: their numbers would overlap.
_TICKS_APART = 1.25


def fewer_runs(answer: Path) -> plt.Figure:
    """Improvement over natural against proxy runs: a panel per strategy, a curve per law."""
    table = pd.read_csv(answer / "fewer_runs_by_law.csv")
    strategies = [known for known in STRATEGIES.values() if known.name in set(table["strategy"])]
    figure, axes = plt.subplots(
        1, len(strategies), figsize=(PAGE_WIDTH, 2.4), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    goal = read_json(answer / "summary.json")["yardstick"]["mean"]
    for axis, strategy in zip(axes[0], strategies, strict=True):
        part = table[table["strategy"] == strategy.name]
        axis.axhline(goal, color="#666666", linewidth=0.6, linestyle=":")
        _curves(axis, part)
        ticks = _ticks(part["proxy_runs"])
        axis.set_xscale("log")
        axis.set_xticks(ticks, [str(count) for count in ticks], fontsize=6)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(strategy.label)
        axis.set_xlabel("proxy runs over all updates")
    axes[0, 0].set_ylabel(GAIN)
    handles, labels = point_legend(axes[0, 0])
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _ticks(runs: pd.Series) -> list[int]:
    """Counts of runs to print below an axis: from the largest down, none too near the last."""
    kept: list[int] = []
    for count in sorted(runs.unique(), reverse=True):
        if not kept or count * _TICKS_APART <= kept[-1]:
            kept.append(int(count))
    return kept


def _curves(axis: plt.Axes, part: pd.DataFrame) -> None:
    laws = [known for known in FAMILIES.values() if known.name in set(part["law"])]
    for place, law in enumerate(laws):
        rows = part[part["law"] == law.name].sort_values("proxy_runs")
        runs = rows["proxy_runs"] * _APART ** (place - (len(laws) - 1) / 2)
        axis.errorbar(
            runs, rows["mean"], yerr=[rows["mean"] - rows["low"], rows["high"] - rows["mean"]],
            color=law.colour, marker=law.marker, markersize=3.5, linewidth=1, capsize=1.5,
            elinewidth=0.8, label=law.label,
        )  # fmt: skip
