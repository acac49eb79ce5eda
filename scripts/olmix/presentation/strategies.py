"""Improvement over natural against total proxy runs: one point per strategy and multiplier."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.container import ErrorbarContainer

from olmix.paths import CONFIG
from olmix.updates.strategies import STRATEGIES, strategy_of

__all__ = ["GAIN", "improvement_against_runs", "point_legend", "side_by_side"]

# What is on the y axis wherever mixes are compared with natural.
GAIN = "improvement over natural (% of BPB)"

# A star is drawn smaller than other markers of its size.
_SIZES = {"*": 9}


# Points nearer than this share of the axis are drawn beside each other, so far apart.
_NEAR, _BESIDE = 0.03, 0.03


def improvement_against_runs(axis: plt.Axes, frame: pd.DataFrame, seeds: pd.DataFrame) -> None:
    """Means joined over c, a bar from the lowest to the highest seed, and the seeds as dots.

    Points of (nearly) the same number of runs stand side by side around it.
    """
    drawn = {strategy_of(name) for name in frame["strategy"]}
    frame = frame.assign(place=side_by_side(frame["proxy_runs"]))
    keys = ["strategy", "c", "requested"]
    seeds = seeds.merge(frame[[*keys, "place"]], on=keys)
    for strategy in (known for known in STRATEGIES.values() if known in drawn):
        part = frame[frame["strategy"] == strategy.name].sort_values("proxy_runs")
        size = _SIZES.get(strategy.marker, 5)
        axis.errorbar(
            part["place"], part["mean"],
            yerr=[part["mean"] - part["low"], part["high"] - part["mean"]],
            color=strategy.colour, marker=strategy.marker, markersize=size, label=strategy.label,
            capsize=2, elinewidth=0.8,
        )  # fmt: skip
        dots = seeds[seeds["strategy"] == strategy.name]
        axis.scatter(dots["place"], dots["improvement"], s=4, color=strategy.colour, alpha=0.5)
    _draw_papers(axis, frame)
    axis.set_xlabel("proxy runs over all updates")
    axis.set_ylabel(GAIN)


def point_legend(axis: plt.Axes) -> tuple[list[Artist], list[str]]:
    """Marks and labels for a legend; of points with error bars the mark alone, which bars hide."""
    handles, labels = axis.get_legend_handles_labels()
    marks = [
        handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle for handle in handles
    ]
    return marks, labels


def _draw_papers(axis: plt.Axes, frame: pd.DataFrame) -> None:
    """The paper's numbers as hollow marks, where a study has as many runs as the paper's."""
    papers = pd.read_csv(CONFIG / "published" / "main_results.csv", comment="#")
    keys = ["strategy", "c", "requested", "proxy_runs"]
    for number, row in enumerate(frame.merge(papers, on=keys).itertuples()):
        strategy = strategy_of(row.strategy)
        axis.plot(
            row.place, row.improvement, linestyle="none", marker=strategy.marker,
            markersize=_SIZES.get(strategy.marker, 5) + 1, markerfacecolor="none",
            markeredgecolor=strategy.colour, zorder=4,
            label="hollow: the paper, 1B" if number == 0 else None,
        )  # fmt: skip


def side_by_side(values: pd.Series) -> pd.Series:
    """Each value, moved a little where others are so near that their marks would collide."""
    span = float(values.max() - values.min()) or 1.0
    ordered = values.sort_values(kind="stable")
    clusters = (ordered.diff() > _NEAR * span).cumsum()
    rank = ordered.groupby(clusters).cumcount()
    size = ordered.groupby(clusters).transform("size")
    centre = ordered.groupby(clusters).transform("mean")
    moved = centre + (rank - (size - 1) / 2) * _BESIDE * span
    return ordered.where(size == 1, moved).reindex(values.index)
