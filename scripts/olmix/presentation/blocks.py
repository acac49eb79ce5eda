"""The blocks of README.md and docs/ that are written from the gallery's numbers.

A block stands between ``<!-- gallery:NAME -->`` and ``<!-- /gallery:NAME -->``. Nobody edits one:
`snakemake gallery` writes them, and a test compares.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from olmix.errors import OlmixError
from olmix.presentation.wording import percent
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

__all__ = ["BLOCKS", "refresh"]

# The strategies that the main results are about; all others follow them.
_FIRST = (PARTIAL_MIXTURE_REUSE, FULL_MIXTURE_REUSE, AUTO_PARTIAL_REUSE)


def main(numbers: Mapping[str, Any]) -> str:
    """The main results: a sentence and a row per strategy."""
    updates, runs = numbers["updates"], numbers["runs"]
    full = updates["strategies"][_entry(FULL_RECOMPUTATION, MULTIPLIER)]
    trained = (
        f"{runs['proxy']:,} small proxy models and {runs['target']:,} target models were "
        f"{'really trained' if numbers['notice'] is None else 'made up by a law'}"
    )
    text = (
        f"At the scale `{numbers['scale']}` {trained}. Choosing the mix anew after every change of "
        f"the domains improves on the natural mix by {full['improvement']:.1f} % of its bits per "
        f"byte. It takes {full['proxy_runs']} proxy runs; reusing ratios takes far fewer:"
    )
    rows = []
    for name, label in _strategies().items():
        entry = updates["strategies"].get(name)
        if entry:
            gain = f"+{entry['improvement']:.1f} % ({entry['low']:.1f} to {entry['high']:.1f})"
            kept = percent(entry["share_of_full_recomputation"])
            spent = f"{entry['proxy_runs']} (−{percent(entry['fewer_runs'])})"
            rows.append([label, gain, kept, spent])
    columns = ("strategy", "gain over natural (over seeds)", "of the full gain", "proxy runs")
    table = _table(columns, rows)
    times = updates.get("data_efficiency")
    if not times:
        return f"{text}\n\n{table}"
    reached = f"reaches natural's final score in {times:.2f} times fewer training steps"
    return f"{text}\n\n{table}\n\nThe best mix of partial mixture reuse {reached}."


def _strategies() -> dict[str, str]:
    """The rows of the main results: their entries in the summary, and what they are called."""
    others = [known for known in COMPARED if known not in (*_FIRST, FULL_RECOMPUTATION)]
    rows = {_entry(strategy, MULTIPLIER): strategy.label for strategy in (*_FIRST, *others)}
    return rows | {_entry(FULL_RECOMPUTATION, 1): f"{FULL_RECOMPUTATION.label} with c = 1"}


def questions(numbers: Mapping[str, Any]) -> str:
    """The questions: command, figures, time on two cores, hours on GPUs."""
    columns = ("question", "command", "figures", "time on 2 cores", "GPU-hours at paper scale")
    rows = [
        [
            entry["title"],
            f"`{entry['command']}`",
            ", ".join(f"[{name}](../figures/gallery/{name}.png)" for name in entry["figures"]),
            _duration(entry["hours"]),
            "–" if entry["gpu_hours"] is None else f"{entry['gpu_hours']:,.0f}",
        ]
        for entry in numbers["questions"]
    ]
    return _table(columns, rows)


def measured(numbers: Mapping[str, Any]) -> str:
    """What reviewers' checklists ask of the results: runs, repetitions, scatter, compute."""
    runs, time = numbers["runs"], numbers["time"]
    paper = sum(entry["gpu_hours"] or 0 for entry in numbers["questions"])
    versions = ", ".join(f"{name} {version}" for name, version in numbers["versions"].items())
    rows = [
        ["scale", f"`{numbers['scale']}`, from commit {numbers['commit'][:12]}"],
        ["runs", f"{runs['proxy']:,} of proxy models, {runs['target']:,} of target models"],
        ["seeds of swarms and strategies", str(numbers["seeds"])],
        ["data orders of each target run of RQ3 to RQ7", str(numbers["target_repeats"])],
        *(
            [
                f"scatter of single runs: {entry['model']}, {entry['mix'].replace('_', ' ')} mix",
                f"standard deviation {entry['sd']:.4f} BPB ({entry['percent']:.1f} %) over "
                f"{entry['seeds']} data orders",
            ]
            for entry in numbers["noise"]
        ),
        *(
            [["compute spent", f"{time['hours']:.1f} hours on one core, in {time['jobs']:,} jobs"]]
            if time["jobs"]
            else []
        ),
        ["compute of each question at `paper`, summed", f"{paper:,.0f} H100-hours, computed"],
        ["system", f"{numbers['system']}, Python {numbers['python']}"],
        ["software", versions],
    ]
    return _table(("what", "value"), rows)


#: block -> what writes it
BLOCKS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "main": main,
    "questions": questions,
    "measured": measured,
}


def refresh(text: str, numbers: Mapping[str, Any], page: str = "README.md") -> str:
    """A page with every block written again; text outside blocks stays as it is."""
    opened = re.findall(r"<!-- gallery:(\w+) -->", text)
    for name in opened:
        if name not in BLOCKS:
            raise OlmixError(f"{page}: no gallery block '{name}', known: {', '.join(BLOCKS)}")
        begin, end = f"<!-- gallery:{name} -->", f"<!-- /gallery:{name} -->"
        head, _, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not closed:
            raise OlmixError(f"{page}: gallery block '{name}' is not closed by '{end}'")
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
