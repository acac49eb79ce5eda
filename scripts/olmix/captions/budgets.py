"""Captions of tight repetition caps and low budgets."""

from pathlib import Path

from olmix.captions.updates import strategy_sentence
from olmix.files import read_json

__all__ = ["TABLES", "finding", "low_budget", "main_results_6t"]

TABLES = {
    "budgets": "Every chain: strategy, c, R, seed, total proxy runs, target BPB, improvement.",
    "budgets_by_strategy": "Mean, smallest and largest improvement over seeds by strategy, c, R.",
}


def finding(answer: Path) -> str:
    """Every strategy where R is tight: full recomputation with each c, the others with c = 3."""
    every = [f"full_recomputation-c{c}-tight" for c in (1, 2)]
    return _sentence(answer, "-c3-tight", *every)


def main_results_6t(answer: Path) -> str:
    """The main results where R is tight."""
    return f"Improvement over natural where R is six times larger. {finding(answer)}"


def low_budget(answer: Path) -> str:
    """From the smallest budgets on."""
    small = _sentence(answer, "-c1-relaxed", "-c1-tight")
    return f"Improvement from the smallest budgets on, for both R. {small}"


def _sentence(answer: Path, *ends: str) -> str:
    strategies = read_json(answer / "summary.json")["strategies"]
    return strategy_sentence({k: v for k, v in strategies.items() if k.endswith(ends)})
