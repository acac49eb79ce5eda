"""What the report opens with: a figure, the counts of the board, a table, then the findings."""

import textwrap
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.presentation.captions import finding
from olmix.presentation.report.categories import categories
from olmix.updates.strategies import strategy_of

__all__ = ["landing_text"]

# docutils refuses lines of more than ten thousand characters.
_LINE = 5000


def landing_text(
    scale: str,
    runs: Sequence[tuple[str, int]],
    answers: Mapping[str, Path],
    provenances: Mapping[str, Mapping[str, Any]],
    figure: Path,
) -> str:
    """The first page as reStructuredText: what a reader wants first, and all findings after it."""
    notices = {record["notice"] for record in provenances.values() if record.get("notice")}
    parts = [*(f"**{notice}**" for notice in sorted(notices)), _picture(figure)]
    if "claims" in answers:
        parts.append(_counts(answers["claims"]))
    if "updates" in answers:
        parts.append(_strategies(answers["updates"]))
    parts.append(_origin(scale, runs, provenances))
    for question, title in categories().items():
        if question in answers:
            parts.append(f"**{title}** {finding(question, answers[question])}")
    return "\n\n".join(parts)


def _picture(path: Path) -> str:
    """A figure inside the page, so that the report stays one file."""
    data = "data:image/png;base64," + b64encode(path.read_bytes()).decode()
    lines = textwrap.indent("\n".join(textwrap.wrap(data, _LINE)), "   ").strip()
    return f".. image:: {lines}\n   :alt: Figure {path.stem}\n   :width: 100%"


def _counts(board: Path) -> str:
    """How many claims have which verdict, as a table."""
    counts = pd.read_csv(board)["verdict"].value_counts()
    return _table(
        f"Verdicts on {counts.sum()} claims of the paper",
        ("verdict", "claims"),
        ((name, str(count)) for name, count in counts.items()),
    )


def _strategies(answer: Path) -> str:
    """What each strategy gained over natural and what it cost, as a table."""
    frame = pd.read_csv(answer / "main_results_by_strategy.csv")
    rows = (
        (
            f"{strategy_of(row.strategy).label}, c = {row.c}",
            f"{row.mean:+.1f} % ({row.low:.1f} to {row.high:.1f})",
            str(row.proxy_runs),
        )
        for row in frame.itertuples()
    )
    columns = ("strategy", "gain over natural (range over seeds)", "proxy runs")
    return _table("Gain of every strategy over the natural mix", columns, rows)


def _origin(
    scale: str, runs: Sequence[tuple[str, int]], provenances: Mapping[str, Mapping[str, Any]]
) -> str:
    commits = sorted({str(record["commit"])[:12] for record in provenances.values()})
    latest = max((record["time"] for record in provenances.values()), default="")
    counted = ", ".join(f"{count} {kind} runs" for kind, count in runs)
    return (
        f"**Scale** {scale}: {counted}. **Made from commit** {', '.join(commits)}; the last "
        f"answer is of {latest}."
    )


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of reStructuredText, its first row the columns' names."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in (columns, *rows):
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    return "\n".join(lines)
