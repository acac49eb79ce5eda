"""The README's pictures and numbers: small PNGs, numbers.json, and the blocks written from it.

A block stands between ``<!-- gallery:NAME -->`` and ``<!-- /gallery:NAME -->``. Nobody edits one:
`snakemake gallery` writes them from the results, and a test compares.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from olmix.errors import OlmixError
from olmix.files import read_json, replacing
from olmix.presentation.captions import finding
from olmix.questions.updates.plan import MULTIPLIER
from olmix.study.chain import Chain
from olmix.updates.strategies import (
    AUTO_PARTIAL_REUSE,
    COMPARED,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    Strategy,
)

__all__ = [
    "BLOCKS",
    "cost_column",
    "refresh",
    "render_claims",
    "render_main",
    "render_questions",
    "result_numbers",
    "shrink",
]

# Figures are saved at 200 dots per inch.
_SHRINK = 110 / 200
_VERDICT_COLUMNS = ("id", "claim", "paper_value", "value", "low", "high", "measured", "verdict")
# What else the board says of a claim; any further column is of a scale that repeats this one.
_OTHER_COLUMNS = ("part", "bound", "reason", "command", "files")
# The strategies that the main results are about; all others follow them.
_FIRST = (PARTIAL_MIXTURE_REUSE, FULL_MIXTURE_REUSE, AUTO_PARTIAL_REUSE)
_CLAIM_COLUMNS = {
    "id": "id",
    "claim": "claim",
    "paper": "paper",
    "ours": "ours",
    "verdict": "verdict",
    "again": "in a second world",
}


def shrink(source: Path, out: Path) -> None:
    """A figure as a small PNG, in the figure's own colours."""
    with Image.open(source) as image:
        size = [round(length * _SHRINK) for length in image.size]
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    with replacing(out) as temporary:
        small.save(temporary, optimize=True)


def result_numbers(results: Path, answers: Iterable[str]) -> dict[str, Any]:
    """What the README quotes of the results themselves; the same results give the same numbers."""
    provenance = read_json(results / "updates" / "provenance.json")
    return {
        "scale": provenance["scale"],
        "commit": provenance["commit"],
        "notice": provenance.get("notice"),
        "updates": read_json(results / "updates" / "summary.json"),
        "claims": _claims(results / "claims.csv"),
        "findings": {name: finding(name, results / name) for name in answers},
    }


def _claims(path: Path) -> list[dict[str, str]]:
    """The scoreboard's rows; none where it was not made."""
    if not path.is_file():
        return []
    frame = pd.read_csv(path)
    for column in _VERDICT_COLUMNS:
        if column not in frame:
            raise OlmixError(f"{path}: column '{column}' is missing, it has {', '.join(frame)}")
    repeated = [name for name in frame if name not in (*_VERDICT_COLUMNS, *_OTHER_COLUMNS)]
    return [
        {
            "id": row["id"],
            "claim": row["claim"],
            "paper": row["paper_value"],
            "ours": _with_interval(row["value"], row["low"], row["high"], row["measured"]),
            "verdict": row["verdict"],
            # The board has the command of what was not run.
            "again": "; ".join(re.sub("^not run:.*", "not run", row[name]) for name in repeated),
        }
        for _, row in frame.iterrows()
    ]


def _with_interval(value: float, low: float, high: float, measured: str) -> str:
    """A number with what it is; nothing where nothing was measured."""
    if pd.isna(value):
        return "–"
    ends = "" if low == high else f" [{low:.3g}, {high:.3g}]"
    return f"{value:.3g}{ends}: {measured}"


def cost_column(path: Path, column: str) -> dict[str, float]:
    """A column of a scale's cost report by question; empty if there is no report."""
    if not path.is_file():
        return {}
    frame = pd.read_csv(path)
    return dict(zip(frame["question"], frame[column].astype(float), strict=True))


def render_main(numbers: Mapping[str, Any]) -> str:
    """The main results for the README, in two sentences and a line per strategy."""
    updates, runs = numbers["updates"], numbers["runs"]
    full = updates["strategies"][_entry(FULL_RECOMPUTATION, MULTIPLIER)]
    lines = [
        f"At the `{numbers['scale']}` scale ({runs['proxy']:,} proxy and {runs['target']:,} target "
        f"runs, {numbers['notice'] or 'really trained'}), full recomputation improves on the "
        f"natural mix by {full['improvement']:.1f} % of its BPB with {full['proxy_runs']} proxy "
        "runs over all updates.",
    ]
    others = [known for known in COMPARED if known not in (*_FIRST, FULL_RECOMPUTATION)]
    rows = {_entry(strategy, MULTIPLIER): strategy.label for strategy in (*_FIRST, *others)}
    rows[_entry(FULL_RECOMPUTATION, 1)] = f"{FULL_RECOMPUTATION.label} with c = 1"
    for name, label in rows.items():
        entry = updates["strategies"].get(name)
        if entry:
            lines.append(
                f"- {label}: +{entry['improvement']:.1f} % "
                f"({entry['low']:.1f} to {entry['high']:.1f} over seeds) with "
                f"{entry['proxy_runs']} runs: {entry['share_of_full_recomputation']:.0%} of that "
                f"gain, {entry['fewer_runs']:.0%} fewer runs"
            )
    times = updates.get("data_efficiency")
    if times:
        reached = f"reaches natural's final BPB in {times:.2f} times fewer training steps"
        lines.append(f"\nPartial mixture reuse {reached}.")
    return "\n".join([lines[0], "", *lines[1:]])


def render_claims(numbers: Mapping[str, Any]) -> str:
    """The scoreboard for the README: counts of verdicts, then a row per claim."""
    claims = numbers["claims"]
    if not claims:
        return "The scoreboard was not made yet."
    counts = Counter(claim["verdict"] for claim in claims)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    rows = [[claim[column] for column in _CLAIM_COLUMNS] for claim in claims]
    return f"{len(claims)} claims: {counted}.\n\n{_table(_CLAIM_COLUMNS.values(), rows)}"


def render_questions(numbers: Mapping[str, Any]) -> str:
    """The questions for the README: command, figures, time on two cores, hours on GPUs."""
    columns = ("question", "command", "figures", "time on 2 cores", "GPU-hours at paper scale")
    rows = [
        [
            entry["title"],
            f"`{entry['command']}`",
            ", ".join(f"[{name}](figures/gallery/{name}.png)" for name in entry["figures"]),
            _duration(entry["hours"]),
            "–" if entry["gpu_hours"] is None else f"{entry['gpu_hours']:,.0f}",
        ]
        for entry in numbers["questions"]
    ]
    return _table(columns, rows)


#: block of the README -> what writes it
BLOCKS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "main": render_main,
    "claims": render_claims,
    "questions": render_questions,
}


def refresh(text: str, numbers: Mapping[str, Any]) -> str:
    """The README with every block written again; text outside blocks stays as it is."""
    opened = re.findall(r"<!-- gallery:(\w+) -->", text)
    for name in opened:
        if name not in BLOCKS:
            raise OlmixError(f"README.md: no gallery block '{name}', known: {', '.join(BLOCKS)}")
        begin, end = f"<!-- gallery:{name} -->", f"<!-- /gallery:{name} -->"
        head, _, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not closed:
            raise OlmixError(f"README.md: gallery block '{name}' is not closed by '{end}'")
        text = f"{head}{begin}\n{BLOCKS[name](numbers)}\n{end}{tail}"
    return text


def _entry(strategy: Strategy, c: int) -> str:
    """Where the summary of the main results has a strategy."""
    return Chain(strategy.name, c, "relaxed", 0).kind


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(columns)]
    lines += [["---"] * len(lines[0])]
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _duration(hours: float | None) -> str:
    if hours is None:
        return "–"
    return "under 1 min" if hours < 1 / 60 else f"{60 * hours:.0f} min"
