"""Captions of the noise of single runs."""

from pathlib import Path

import pandas as pd

from olmix.presentation.wording import listed

__all__ = ["TABLES", "finding"]

TABLES = {
    "noise": "Mean and standard deviation of the BPB over data seeds, by model and mix.",
    "runs": "BPB of every run behind them.",
}


def finding(answer: Path) -> str:
    """How far runs of one mix differ: standard deviations over data seeds."""
    frame = pd.read_csv(answer / "noise.csv")
    rows = listed(
        f"{row.percent:.1f} % ({row.model}, {row.mix} mix, {row.seeds} seeds)"
        for row in frame.itertuples()
    )
    return f"Runs of one mix that differ in the data seed alone scatter by {rows} of their BPB."
