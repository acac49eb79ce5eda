"""Captions of RQ7: which solver?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.dots import interval_of_means
from olmix.presentation.wording import captions_by_level, lowest, named
from olmix.questions.rq7.plan import label

__all__ = ["TABLES", "finding", "solvers", "solvers_sources"]

TABLES = {"solvers": "Target BPB and predicted BPB of each solver's mix, over topics and sources."}


def finding(answer: Path) -> str:
    """Measured and predicted BPB of the solvers over topics."""
    return _level(answer, "topics")


def _level(answer: Path, level: str) -> str:
    found = read_json(answer / "summary.json")[level]
    half = interval_of_means(answer, "solvers", "measured_error")
    measured = named(found["measured_bpb"], say=label)
    return (
        f"Over {level}, {label(found['lowest_predicted'])} predicts the lowest BPB "
        f"({named(found['predicted_bpb'], say=label)}); measured with the target, "
        f"{lowest(found['measured_bpb'], half, say=label)} ({measured})."
    )


solvers, solvers_sources = captions_by_level(
    "Target BPB (left) and predicted BPB (right) of each solver's mix.", _level
)
