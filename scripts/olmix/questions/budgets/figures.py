"""Figures of tight repetition caps and of low budgets."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.strategies import improvement_against_runs, point_legend
from olmix.presentation.style import COLUMN_WIDTH, PAGE_WIDTH
from olmix.updates.strategies import FULL_RECOMPUTATION

__all__ = ["low_budget", "main_results_6t"]


def _read(answer: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.read_csv(answer / "budgets_by_strategy.csv"), pd.read_csv(answer / "budgets.csv")


def main_results_6t(answer: Path) -> plt.Figure:
    """Improvement over natural against proxy runs, where R is six times larger."""
    frame, seeds = _read(answer)
    wanted = (frame["requested"] == "tight") & (
        (frame["c"] == 3) | (frame["strategy"] == FULL_RECOMPUTATION.name)
    )
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.8), layout="constrained")
    shown = (seeds["requested"] == "tight") & (
        (seeds["c"] == 3) | (seeds["strategy"] == FULL_RECOMPUTATION.name)
    )
    improvement_against_runs(axis, frame[wanted], seeds[shown])
    axis.legend(*point_legend(axis), loc="best")
    return figure


def low_budget(answer: Path) -> plt.Figure:
    """Improvement by every strategy from its smallest budget on, for both R.

    Full recomputation is shown at c = 1 only: its other budgets would stretch the axis.
    """
    frame, seeds = _read(answer)
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.7), layout="constrained")
    for axis, requested in zip(axes, ("relaxed", "tight"), strict=True):
        keep = [
            table[
                (table["requested"] == requested)
                & ((table["strategy"] != FULL_RECOMPUTATION.name) | (table["c"] == 1))
            ]
            for table in (frame, seeds)
        ]
        improvement_against_runs(axis, *keep)
        axis.set_title(f"R {requested}")
    # Every strategy is at the relaxed R; above both panels the legend hides no point.
    figure.legend(*point_legend(axes[0]), loc="outside upper center", ncols=5)
    return figure
