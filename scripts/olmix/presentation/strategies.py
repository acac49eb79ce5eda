"""Improvement over natural against total proxy runs: one point per strategy and multiplier."""

import matplotlib.pyplot as plt
import pandas as pd

from olmix.updates.strategies import STRATEGIES, strategy_of

__all__ = ["improvement_against_runs"]

# A star is drawn smaller than other markers of its size.
_SIZES = {"*": 9}


def improvement_against_runs(axis: plt.Axes, frame: pd.DataFrame, seeds: pd.DataFrame) -> None:
    """Means joined over c, a bar from the lowest to the highest seed, and the seeds as dots."""
    drawn = {strategy_of(name) for name in frame["strategy"]}
    for strategy in (known for known in STRATEGIES.values() if known in drawn):
        part = frame[frame["strategy"] == strategy.name].sort_values("proxy_runs")
        size = _SIZES.get(strategy.marker, 5)
        axis.errorbar(
            part["proxy_runs"], part["mean"],
            yerr=[part["mean"] - part["low"], part["high"] - part["mean"]],
            color=strategy.colour, marker=strategy.marker, markersize=size, label=strategy.label,
            capsize=2, elinewidth=0.8,
        )  # fmt: skip
        dots = seeds[seeds["strategy"] == strategy.name]
        axis.scatter(dots["proxy_runs"], dots["improvement"], s=4, color=strategy.colour, alpha=0.5)
    axis.set_xlabel("proxy runs over all updates")
    axis.set_ylabel("improvement over natural (%)")
