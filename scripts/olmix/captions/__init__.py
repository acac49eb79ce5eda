"""What each figure and table shows and what was found, in sentences with the results' numbers.

A module per question, named after it: a function per figure, named after it; ``finding``, the
question's answer in a sentence or two; and ``TABLES``, what each table holds: a sentence that the
finding follows, or a function of the results folder.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

__all__ = ["figure_caption", "finding", "table_caption"]


def figure_caption(question: str, figure: str, answer: Path) -> str:
    """The caption of a figure; one that nobody wrote says so, and where its numbers are."""
    module = _module(question)
    if hasattr(module, figure):
        return getattr(module, figure)(answer)
    return f"Figure *{figure}*. No caption is written for it; its numbers are in {answer}."


def table_caption(question: str, table: str, answer: Path) -> str:
    """What a table holds and what was found."""
    held = getattr(_module(question), "TABLES", {}).get(table, f"Table *{table}*.")
    return held(answer) if callable(held) else f"{held} {finding(question, answer)}"


def finding(question: str, answer: Path) -> str:
    """The answer to a question in a sentence or two."""
    module = _module(question)
    if hasattr(module, "finding"):
        return module.finding(answer)
    return f"No finding is written down for *{question}*; its numbers are in {answer}."


def _module(question: str) -> ModuleType | None:
    name = f"{__name__}.{question}"
    return import_module(name) if find_spec(name) else None
