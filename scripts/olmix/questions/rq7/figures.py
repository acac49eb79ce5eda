"""Figures of RQ7: measured and predicted BPB of the solvers."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.dots import bpb_dots, interval_of_means
from olmix.presentation.style import PAGE_WIDTH
from olmix.questions.rq7.plan import label

__all__ = ["solvers", "solvers_sources"]


def solvers(answer: Path) -> plt.Figure:
    """Solvers over topics: target BPB (left), predicted proxy BPB (right)."""
    return _solvers(answer, "topics")


def solvers_sources(answer: Path) -> plt.Figure:
    """Solvers over sources: target BPB (left), predicted proxy BPB (right)."""
    return _solvers(answer, "sources")


def _solvers(answer: Path, level: str) -> plt.Figure:
    frame = pd.read_csv(answer / "solvers.csv")
    half = interval_of_means(answer, "solvers", "measured_error")
    frame = frame[frame["level"] == level].set_index("solver")
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH * 0.75, 2.0), layout="constrained")
    labels = [label(name) for name in frame.index]
    bpb_dots(axes[0], labels, frame["measured_bpb"], half)
    axes[0].set_ylabel("average BPB of the target")
    bpb_dots(axes[1], labels, frame["predicted_bpb"])
    axes[1].set_ylabel("predicted BPB of the proxy")
    for axis in axes:
        axis.set_xlabel("solver")
    return figure
