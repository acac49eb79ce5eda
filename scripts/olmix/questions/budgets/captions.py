"""Captions of tight repetition caps and low budgets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.questions.updates.captions import strategy_sentence
from olmix.questions.updates.plan import MULTIPLIER
from olmix.updates.strategies import FULL_RECOMPUTATION

__all__ = ["TABLES", "finding", "low_budget", "main_results_6t"]

TABLES = {
    "budgets": "Every chain: strategy, c, R, seed, total proxy runs, target BPB, improvement.",
    "budgets_by_strategy": "Mean, smallest and largest improvement over seeds by strategy, c, R.",
}


def finding(answer: Path) -> str:
    """Every strategy where R is tight: full recomputation with each c, the others with c = 3."""
    return _sentence(
        answer,
        lambda entry: (
            entry["requested"] == "tight"
            and (entry["c"] == MULTIPLIER or entry["strategy"] == FULL_RECOMPUTATION.name)
        ),
    )


def main_results_6t(answer: Path) -> str:
    """What the figure of the main results at a tight R shows."""
    return f"Improvement over natural where R is six times larger. {finding(answer)}"


def low_budget(answer: Path) -> str:
    """What the figure of low budgets shows, from the smallest budgets on."""
    small = _sentence(answer, lambda entry: entry["c"] == 1)
    return f"Improvement from the smallest budgets on, for both R. {small}"


def _sentence(answer: Path, wanted: Callable[[dict[str, Any]], bool]) -> str:
    strategies = read_json(answer / "summary.json")["strategies"].values()
    return strategy_sentence(entry for entry in strategies if wanted(entry))
