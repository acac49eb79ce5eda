"""How well a fit ranks runs that it has not seen: a line on screen, and a table by output."""

import csv
from collections.abc import Mapping
from pathlib import Path

from olmix.files import replacing
from olmix.regressors.validation import HeldOut

__all__ = ["HELD_OUT", "score_line", "write_scores_csv"]

# What runs of the swarm itself are called that were set aside.
HELD_OUT = "held out"


def score_line(what: str, scored: HeldOut) -> str:
    """Pearson and Spearman correlation, mean over outputs and of the average."""
    return (
        f"{what}: Pearson {scored.mean:.3f} (mean over {len(scored.outputs)} outputs), "
        f"{scored.average:.3f} (average); Spearman {scored.ranks.mean():.3f}, "
        f"{scored.average_ranks:.3f}"
    )


def write_scores_csv(path: str | Path, scores: Mapping[str, HeldOut]) -> None:
    """A row per swarm and output, and one for the average: runs, Pearson, Spearman."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["runs_of", "runs", "output", "pearson", "spearman"])
        for name, scored in scores.items():
            runs = len(scored.test)
            found = zip(scored.outputs, scored.by_output, scored.ranks, strict=True)
            writer.writerows([name, runs, *row] for row in found)
            writer.writerow([name, runs, "average", scored.average, scored.average_ranks])
