"""The page of all grounds: a line per claim that says where it holds, and the counts."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from olmix.claims.board import with_interval
from olmix.claims.rules import (
    NOT_DECIDABLE,
    NOT_MEASURED,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
)
from olmix.claims.settings import Claim, ClaimSettings
from olmix.errors import OlmixError
from olmix.files import write_text

__all__ = ["ground_counts", "refresh_page", "where_it_holds"]

LABELS = {
    "tiny": "trained here",
    "tiny-seed1": "trained here, second world",
    "measured": "measured law",
    "published": "released runs",
}
_BLOCK = re.compile(r"(<!-- grounds -->\n).*?(<!-- /grounds -->)", re.DOTALL)


def refresh_page(path: Path, settings: ClaimSettings, kept: Mapping[str, pd.DataFrame]) -> None:
    """Write the block of grounds of a page again, from verdicts by ground."""
    text = path.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise OlmixError(f"{path}: no block <!-- grounds --> to write")
    for name, table in kept.items():
        if (table["rules"] != settings.fingerprint).any():
            raise OlmixError(f"verdicts of '{name}' are by other rules: judge them again")
    block = _block(settings, {name: table.set_index("id") for name, table in kept.items()})
    write_text(path, _BLOCK.sub(lambda found: f"{found[1]}{block}\n{found[2]}", text))


def ground_counts(kept: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many claims come to each verdict on each ground: (grounds, verdicts)."""
    counts = {name: table["verdict"].value_counts() for name, table in kept.items()}
    return pd.DataFrame(counts).T.reindex(columns=list(VERDICTS)).fillna(0).astype(int)


def where_it_holds(found: Mapping[str, str]) -> str:
    """In words on which grounds a claim is reproduced, is not, or cannot be told."""
    words = {
        REPRODUCED: "holds on",
        NOT_REPRODUCED: "fails on",
        NOT_DECIDABLE: "is open on",
    }
    said = []
    for verdict, word in words.items():
        grounds = [LABELS.get(name, name) for name, given in found.items() if given == verdict]
        if grounds:
            said.append(f"{word} {_listed(grounds)}")
    return "; ".join(said) if said else "is measured nowhere"


def _block(settings: ClaimSettings, kept: Mapping[str, pd.DataFrame]) -> str:
    order = [name for name in (*LABELS, *kept) if name in kept]
    grounds = {name: kept[name] for name in dict.fromkeys(order)}
    counts = ground_counts(grounds)
    lines = ["| ground | " + " | ".join(VERDICTS) + " |", "| --- |" + " --- |" * len(VERDICTS)]
    for name, row in counts.iterrows():
        lines.append(f"| {LABELS.get(str(name), name)} | " + " | ".join(map(str, row)) + " |")
    head = ["", "claim", "the paper", *(LABELS.get(name, name) for name in grounds), "in words"]
    lines += ["", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += [_line(claim, grounds, settings.why.get(claim.name)) for claim in settings.claims]
    return "\n".join(lines)


def _line(claim: Claim, grounds: Mapping[str, pd.DataFrame], why: str | None) -> str:
    cells = [claim.name, claim.claim, claim.paper]
    found = {}
    for name, table in grounds.items():
        if claim.name not in table.index:
            cells.append("not run")
            continue
        row = table.loc[claim.name]
        found[name] = row["verdict"]
        measured = row["verdict"] != NOT_MEASURED
        cells.append(f"{with_interval(row)}: **{row['verdict']}**" if measured else "–")
    words = f"It {where_it_holds(found)}." + (f" {why}" if why else "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in [*cells, words]) + " |"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
