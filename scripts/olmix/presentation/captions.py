"""What each figure and table shows and what was found, in sentences with the results' numbers.

A question's `captions.py` has ``finding``, its answer in a sentence or two; ``TABLES``, what each
table holds (a sentence that the finding follows, or a function of the results folder); and a
function for each figure whose caption says more than what it shows and the finding.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from olmix.files import read_json

__all__ = ["figure_caption", "finding", "notes", "table_caption"]


def figure_caption(question: str, figure: str, answer: Path) -> str:
    """The caption of a figure: the function of its name, or what it shows and the finding.

    What the answer has to note stands at its end.
    """
    written = getattr(_module(question, "captions"), figure, None)
    if written is not None:
        caption = written(answer)
    else:
        drawn = getattr(_module(question, "figures"), figure, None)
        shown = (drawn.__doc__ or "").split("\n\n")[0].strip() if drawn else ""
        caption = f"{shown or f'Figure *{figure}*.'} {finding(question, answer)}"
    return " ".join([caption, *(f"{note[0].upper()}{note[1:]}." for note in notes(answer))])


def notes(answer: Path) -> list[str]:
    """What a reader of any figure of an answer should know: the ``notes`` of its summary."""
    summary = answer / "summary.json"
    return read_json(summary).get("notes", []) if summary.is_file() else []


def table_caption(question: str, table: str, answer: Path) -> str:
    """What a table holds and what was found."""
    held = getattr(_module(question, "captions"), "TABLES", {}).get(table, f"Table *{table}*.")
    return held(answer) if callable(held) else f"{held} {finding(question, answer)}"


def finding(question: str, answer: Path) -> str:
    """The answer to a question in a sentence or two."""
    find = getattr(_module(question, "captions"), "finding", None)
    if find is not None:
        return find(answer)
    return f"No finding is written down for *{question}*; its numbers are in {answer}."


def _module(question: str, part: str) -> ModuleType | None:
    # Claims and released swarms are packages of their own, not questions.
    for package in (f"olmix.questions.{question}", f"olmix.{question}"):
        if find_spec(package) and find_spec(f"{package}.{part}"):
            return import_module(f"{package}.{part}")
    return None
