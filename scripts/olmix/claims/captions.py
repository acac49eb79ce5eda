"""Captions of the scoreboard."""

from pathlib import Path

import pandas as pd

from olmix.presentation.wording import listed

__all__ = ["TABLES", "claims", "finding"]

TABLES = {
    "claims": "Every claim of the paper: its value, ours with its interval, the verdict and why, "
    "and the command it comes from.",
}


def finding(answer: Path) -> str:
    """How many claims have which verdict; ``answer`` is the table itself."""
    verdicts = pd.read_csv(answer)[["id", "verdict"]].groupby("verdict", sort=False)["id"]
    counted = listed(f"{len(ids)} {name} ({', '.join(ids)})" for name, ids in verdicts)
    return f"Of {verdicts.size().sum()} claims of the paper: {counted}."


def claims(answer: Path) -> str:
    """What the picture of the scoreboard shows, and how many claims have which verdict."""
    return f"Where every claim stands, against the bound that decides it. {finding(answer)}"
