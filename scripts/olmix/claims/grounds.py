"""Claims on grounds that are no single scale: replicas of a law, and released runs.

The rules are those of every scale; what differs is where the numbers come from. A ground's verdicts
are kept as a small table in config/grounds/, so that a fresh clone can show them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from olmix.claims.board import board_row, bound_text
from olmix.claims.evidence import Evidence
from olmix.claims.rules import standing
from olmix.claims.settings import Claim, ClaimSettings
from olmix.errors import OlmixError

__all__ = [
    "asked_again",
    "ground_board",
    "kept_ground",
    "over_replicas",
    "read_ground",
    "write_ground",
]

_COLUMNS = ["id", "verdict", "value", "low", "high", "part", "bound", "reason", "by", "rules"]


def over_replicas(replicas: Sequence[pd.DataFrame], settings: ClaimSettings) -> pd.DataFrame:
    """Estimates of several replicas as one: mean ± t·s over the replicas, judged again.

    The estimates of a part are matched by their place; one that some replicas lack is left open.
    """
    if len(replicas) < 2:
        raise OlmixError(f"{len(replicas)} replica: expected 2 or more to judge over")
    numbered = [
        table.assign(place=table.groupby(["id", "part"]).cumcount(), replica=number)
        for number, table in enumerate(replicas)
    ]
    together = pd.concat(numbered, ignore_index=True)
    rows = [
        row
        for claim in settings.claims
        for row in _claim_rows(claim, together[together["id"] == claim.name], settings)
    ]
    return pd.DataFrame(rows)


def _claim_rows(
    claim: Claim, found: pd.DataFrame, settings: ClaimSettings
) -> list[dict[str, object]]:
    """The pooled estimates of a claim over the replicas that have it."""
    rows = []
    count, evidence = found["replica"].nunique(), Evidence(Path(), settings.confidence)
    for name, part in claim.parts.items():
        for _, same in found[found["part"] == name].groupby("place"):
            labels = same["of"].fillna("").unique()
            label = str(labels[0]) if len(labels) == 1 else ""
            values = same["value"].to_numpy(dtype=float)
            estimate = evidence.over_draws(values if len(values) == count else [], label)
            rows.append(
                {
                    "id": claim.name,
                    "part": name,
                    "of": label,
                    "value": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "bound": bound_text(part.bound),
                    "standing": standing(estimate, part.bound),
                    "says": part.bound.judge(estimate),
                    "replicas": count,
                }
            )
    return rows


def ground_board(
    settings: ClaimSettings, estimates: pd.DataFrame, reasons: Mapping[str, str]
) -> pd.DataFrame:
    """A row per claim; ``reasons`` say why a ground has no number for one."""
    rows = []
    for claim in settings.claims:
        found = estimates[estimates["id"] == claim.name] if len(estimates) else estimates
        reason = reasons.get(claim.name, "no such number on this ground")
        rows.append(board_row(claim, found, reason))
    return pd.DataFrame(rows).assign(rules=settings.fingerprint)


def asked_again(first: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """The first verdicts, but the later ones of the claims that were asked again."""
    left = first[~first["id"].isin(again["id"])]
    return pd.concat([left, again], ignore_index=True).sort_values("id", ignore_index=True)


def write_ground(path: Path, board: pd.DataFrame, command: str) -> None:
    """Keep a ground's verdicts, with the command that gave them on its first line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = board.reindex(columns=_COLUMNS).to_csv(index=False, float_format="%.4g")
    path.write_text(f"# {command}\n{text}", encoding="utf-8")


def read_ground(path: Path) -> pd.DataFrame:
    """The verdicts of a ground, or of a scale, a row per claim."""
    return pd.read_csv(path, comment="#")


def kept_ground(folder: Path, name: str, settings: ClaimSettings) -> pd.DataFrame | None:
    """The kept verdicts of a ground; None where there are none by today's rules."""
    path = folder / f"{name}.csv"
    if not path.is_file():
        return None
    table = read_ground(path)
    return None if (table["rules"] != settings.fingerprint).any() else table.set_index("id")
