"""Captions of RQ7: which solver?"""

from pathlib import Path

from olmix.captions.wording import named, repeated, spoken
from olmix.files import read_json

__all__ = ["TABLES", "finding", "solvers", "solvers_sources"]

TABLES = {"solvers": "Target BPB and predicted BPB of each solver's mix, over topics and sources."}


def finding(answer: Path) -> str:
    """The solvers over topics."""
    return _level(answer, "topics")


def solvers(answer: Path) -> str:
    """Figure of RQ7 over topics."""
    return _figure(answer, "topics")


def solvers_sources(answer: Path) -> str:
    """The same over sources."""
    return _figure(answer, "sources")


def _figure(answer: Path, level: str) -> str:
    shown = f"Target BPB (left) and predicted BPB (right) of each solver's mix.{repeated(answer)}"
    return f"{shown} {_level(answer, level)}"


def _level(answer: Path, level: str) -> str:
    found = read_json(answer / "summary.json")[level]
    return (
        f"Over {level}, {spoken(found['lowest_predicted'])} predicts the lowest BPB "
        f"({named(found['predicted_bpb'])}); measured with the target, "
        f"{spoken(found['lowest_measured'])} is the lowest ({named(found['measured_bpb'])})."
    )
