"""Figures of RQ7: measured and predicted BPB of the solvers."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.plots.bars import bpb_bars, either_side
from olmix.plots.style import PAGE_WIDTH
from olmix.questions.rq7 import SOLVERS

__all__ = ["solvers", "solvers_sources"]

LABELS = {"exact": "exact", "kl-0.01": "KL 0.01", "kl-0.05": "KL 0.05", "search": "search"}


def solvers(answer: Path) -> plt.Figure:
    """Over topics: target BPB (left), predicted proxy BPB (right)."""
    return _solvers(answer, "topics")


def solvers_sources(answer: Path) -> plt.Figure:
    """The same over sources."""
    return _solvers(answer, "sources")


def _solvers(answer: Path, level: str) -> plt.Figure:
    frame = pd.read_csv(answer / "solvers.csv")
    frame = frame[frame["level"] == level].set_index("solver").loc[list(SOLVERS)]
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH * 0.75, 2.2), layout="constrained")
    labels = [LABELS[name] for name in frame.index]
    bpb_bars(
        axes[0], labels, frame["measured_bpb"], errors=either_side(frame["measured_error"]),
        highlight=frame["measured_bpb"].argmin(),
    )  # fmt: skip
    axes[0].set_ylabel("average BPB of the target")
    bpb_bars(axes[1], labels, frame["predicted_bpb"], highlight=frame["predicted_bpb"].argmin())
    axes[1].set_ylabel("predicted average BPB (proxy)")
    for axis in axes:
        axis.set_xlabel("solver")
    return figure
