"""The scoreboard: every claim judged, as tables and as text."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.claims import configuration, evolution
from olmix.claims.evidence import Evidence, Measured, NotMeasured
from olmix.claims.rules import (
    CONTRADICTED,
    HOLDS,
    NOT_MEASURED,
    OPEN,
    VERDICTS,
    Bound,
    all_of,
    standing,
    verdict,
)
from olmix.claims.settings import Claim, ClaimSettings
from olmix.errors import OlmixError

__all__ = [
    "board_row",
    "bound_text",
    "compare_repetitions",
    "estimates_of",
    "in_markdown",
    "judge",
    "judge_claim",
    "verdicts",
    "with_interval",
]

MEASURES = configuration.MEASURES | evolution.MEASURES
# The ground of the authors' released runs, which is no scale.
RELEASED = "published"
SAME, DEPENDS, NOT_RUN = "same", "seed-dependent", "not run"
_SIGNS = {"at_least": "≥", "at_most": "≤", "close_to": "≈", "not_below": "not below"}


def judge(settings: ClaimSettings, evidence: Evidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The board, a row per claim; and every estimate behind it, a row each."""
    for claim in settings.claims:
        if claim.name not in MEASURES:
            raise OlmixError(f"claim '{claim.name}' has rules but no measure")
    judged = [judge_claim(claim, evidence) for claim in settings.claims]
    estimates = pd.concat([estimates for _, estimates in judged], ignore_index=True)
    return pd.DataFrame([row for row, _ in judged]), estimates


def judge_claim(claim: Claim, evidence: Evidence) -> tuple[dict[str, Any], pd.DataFrame]:
    """A row of the board, and the estimates behind it: none if the scale has no such number."""
    try:
        estimates = estimates_of(claim, MEASURES[claim.name](evidence))
        return board_row(claim, estimates), estimates
    except NotMeasured as reason:
        return board_row(claim, pd.DataFrame(), str(reason)), pd.DataFrame()


def board_row(claim: Claim, estimates: pd.DataFrame, reason: str = "") -> dict[str, Any]:
    """What the board says of a claim; ``reason`` is why there are no estimates."""
    row: dict[str, Any] = {
        "id": claim.name,
        "claim": claim.claim,
        "paper_value": claim.paper,
        "what": next(iter(claim.parts.values())).what,
    }
    if estimates.empty:
        nothing = {"part": "", "value": math.nan, "low": math.nan, "high": math.nan, "bound": ""}
        row |= nothing | {"verdict": NOT_MEASURED, "reason": reason}
    else:
        row |= _headline(estimates) | _verdict(estimates)
    return row | _origin(claim)


def estimates_of(claim: Claim, measured: Measured) -> pd.DataFrame:
    """Each estimate of a claim: its part, interval, bound, and what it says."""
    if set(measured) != set(claim.parts):
        wrong = min(set(measured) ^ set(claim.parts))
        raise OlmixError(f"claim '{claim.name}': part '{wrong}' has a bound or a measure, not both")
    return pd.DataFrame(
        [
            {
                "id": claim.name,
                "part": name,
                "of": estimate.label,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "bound": bound_text(part.bound),
                "standing": standing(estimate, part.bound),
                "says": part.bound.judge(estimate),
            }
            for name, part in claim.parts.items()
            for estimate in measured[name]
        ]
    )


def _headline(estimates: pd.DataFrame) -> dict[str, float | str]:
    """The number shown for a claim: of its first part, the estimate that stands worst.

    Where a ground cannot give the first part, it is of the first part that it can.
    """
    known = estimates[estimates["value"].notna()]
    known = estimates if known.empty else known
    first = known[known["part"] == known["part"].iloc[0]]
    worst = first.loc[first["standing"].fillna(0.0).idxmin()]
    return {key: worst[key] for key in ("part", "value", "low", "high", "bound")}


def _verdict(estimates: pd.DataFrame) -> dict[str, str]:
    """The verdict, and why: what contradicts, else what is open, else what holds most narrowly."""
    said = all_of(estimates["says"])
    part = estimates[estimates["says"] == said].sort_values("standing")
    if said == HOLDS:
        part = part.head(1)
    words = {CONTRADICTED: "contradicted by", OPEN: "open", HOLDS: "all hold, most narrowly"}
    shown = "; ".join(_in_words(row) for _, row in part.head(2).iterrows())
    more = f" and {len(part) - 2} more" if len(part) > 2 else ""
    reason = f"{words[said]}: {shown}{more}"
    return {"verdict": verdict(list(estimates["says"])), "reason": reason}


def _in_words(row: pd.Series) -> str:
    of = f" ({row['of']})" if row["of"] else ""
    name = row["part"].replace("_", " ")
    return f"{name}{of} {with_interval(row)}, wanted {row['bound']}"


def with_interval(row: Mapping[str, float]) -> str:
    """A number with its interval, or the number alone where it is exact."""
    value, low, high = row["value"], row["low"], row["high"]
    if math.isnan(value):
        return "–"
    if low == high:
        return f"{value:.3g}"
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


def bound_text(bound: Bound) -> str:
    """A bound as it is read: ``≥ 0.9``."""
    within = f" ± {bound.within:g}" if bound.kind == "close_to" else ""
    return f"{_SIGNS[bound.kind]} {bound.value:g}{within}"


def _origin(claim: Claim) -> dict[str, str]:
    return {
        "command": f"snakemake figures/{claim.figure}.pdf",
        "files": " ".join(f"results/{question}/" for question in claim.results),
    }


def verdicts(board: pd.DataFrame, settings: ClaimSettings) -> pd.DataFrame:
    """What a scale keeps of its board, for the scales that it repeats."""
    kept = ["id", "verdict", "value", "low", "high", "part", "bound", "reason"]
    return board[kept].assign(rules=settings.fingerprint)


def compare_repetitions(
    board: pd.DataFrame, settings: ClaimSettings, scale: str, found: Mapping[str, Path]
) -> pd.DataFrame:
    """The board with a column per scale that repeats this one.

    ``found`` are the verdicts of other scales that there are. ``same`` and ``seed-dependent`` (with
    the other verdict) compare; verdicts that are not there, or came from other rules, are not run.
    """
    for other in settings.repetitions.get(scale, ()):
        table = pd.read_csv(found[other], comment="#").set_index("id") if other in found else None
        if table is None or (table["rules"] != settings.fingerprint).any():
            text = f"{NOT_RUN}: {_command(other, settings)}"
            board = board.assign(**{other: text})
            continue
        there = table["verdict"].reindex(board["id"]).fillna(NOT_RUN)
        pairs = zip(board["verdict"], there, strict=True)
        board = board.assign(**{other: [_compared(a, b) for a, b in pairs]})
    return board


def _command(ground: str, settings: ClaimSettings) -> str:
    """What gives the verdicts of another ground."""
    if ground in settings.replicas or ground == RELEASED:
        return "python -m olmix board"
    return f"snakemake claims --config scale={ground}"


def _compared(here: str, there: str) -> str:
    if there == NOT_RUN:
        return NOT_RUN
    return SAME if here == there else f"{DEPENDS}: {there}"


def in_markdown(
    board: pd.DataFrame, settings: ClaimSettings, scale: str, notice: str | None = None
) -> str:
    """The board as a document; ``notice`` is what the scale's engine must say."""
    counts = board["verdict"].value_counts()
    summary = ", ".join(f"{counts[name]} {name}" for name in VERDICTS if name in counts)
    others = settings.repetitions.get(scale, ())
    head = ["", "claim", "the paper", "here", "verdict", "why", *others, "from"]
    lines = [
        f"# The paper's claims at scale `{scale}`",
        "",
        *([f"**{notice}**", ""] if notice else []),
        f"{len(board)} claims: {summary}. Intervals cover {settings.confidence:.0%}; the rules are "
        "in config/claims.yaml, every number behind a verdict in claims_estimates.csv.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
    ]
    for _, row in board.iterrows():
        here = f"{with_interval(row)} ({row['what']}; wanted {row['bound']})"
        if row["verdict"] == NOT_MEASURED:
            here = "–"
        origin = f"`{row['command']}`; {row['files']}"
        repeated = [row[other] for other in others]
        cells = [row["id"], row["claim"], row["paper_value"], here, f"**{row['verdict']}**",
                 row["reason"], *repeated, origin]  # fmt: skip
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
