"""Figures of RQ2: error against swarm size, in multiples of m + 1."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.errors_by_size import error_curves
from olmix.presentation.style import COLUMN_WIDTH

__all__ = ["swarm_size", "swarm_size_target"]


def swarm_size(answer: Path) -> plt.Figure:
    """Error of the proposed mix, measured with the proxy: a curve per number of domains."""
    return _errors(answer, "swarm_size", "error of the proxy (BPB)")


def swarm_size_target(answer: Path) -> plt.Figure:
    """Error of the proposed mix, measured with the target, for the smallest and the largest m."""
    return _errors(answer, "swarm_size_target", "error of the target (BPB)")


def _errors(answer: Path, name: str, label: str) -> plt.Figure:
    """Draw the mean error over the seeds, with a band from the lowest to the highest."""
    curves = pd.read_csv(answer / f"{name}.csv")
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.3), layout="constrained")
    # The same number of domains looks the same in both figures.
    error_curves(axis, curves, pd.read_csv(answer / "swarm_size.csv")["domains"].unique())
    axis.set_xticks(sorted(curves["multiplier"].unique()))
    axis.set_ylim(bottom=0)
    axis.set_ylabel(label)
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, handlelength=1.5, columnspacing=1.2
    )
    return figure
