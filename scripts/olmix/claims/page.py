"""Claims on all grounds: a page with a line per claim that says where it holds, and a summary."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from olmix.claims.board import with_interval
from olmix.claims.headlines import HEADLINES, found_in_words
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

__all__ = ["LABELS", "decided", "ground_counts", "in_order", "refresh_page", "where_it_holds"]

LABELS = {
    "tiny": "trained here",
    "tiny-seed1": "trained here, second world",
    "measured": "measured law",
    "published": "released runs",
}
# The same as the end of a sentence; both trained worlds together have one.
_WHERE = {
    "tiny": "in the first trained world",
    "tiny-seed1": "in the second trained world",
    "measured": "under the measured law",
    "published": "on the released runs",
}
_BOTH_WORLDS = "in both trained worlds"
# Grounds whose numbers come from the authors' released runs, and worlds that repeat each other.
REAL, WORLDS = ("measured", "published"), ("tiny", "tiny-seed1")
# Where each ground's numbers come from.
_NUMBERS_FROM = {
    "tiny": "small models, trained in a synthetic world",
    "tiny-seed1": "the same in another such world",
    "measured": "laws fitted to the authors' runs, in place of training",
    "published": "the authors' runs themselves",
}
_BLOCK = re.compile(r"(<!-- grounds(:summary|) -->\n).*?(<!-- /grounds\2 -->)", re.DOTALL)


def refresh_page(path: Path, settings: ClaimSettings, kept: Mapping[str, pd.DataFrame]) -> None:
    """Write a page's block of grounds again, whole or as a summary, from verdicts by ground."""
    text = path.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise OlmixError(f"{path}: no block <!-- grounds --> to write")
    for name, table in kept.items():
        if (table["rules"] != settings.fingerprint).any():
            raise OlmixError(f"verdicts of '{name}' are by other rules: judge them again")
    grounds = {name: table.set_index("id") for name, table in in_order(kept).items()}

    def written(found: re.Match[str]) -> str:
        block = _summary(settings, grounds) if found[2] else _board(settings, grounds)
        return f"{found[1]}{block}\n{found[3]}"

    write_text(path, _BLOCK.sub(written, text))


def in_order(kept: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Verdicts by ground, those that are trained here first."""
    return {name: kept[name] for name in dict.fromkeys((*LABELS, *kept)) if name in kept}


def decided(found: Mapping[str, str]) -> bool:
    """Whether verdicts by ground decide a claim: on real data, or in both worlds alike."""
    final = (REPRODUCED, NOT_REPRODUCED)
    alike = {found.get(world) for world in WORLDS}
    return any(found.get(name) in final for name in REAL) or (len(alike) == 1 and alike < {*final})


def ground_counts(kept: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many claims come to each verdict on each ground: (grounds, verdicts)."""
    counts = {name: table["verdict"].value_counts() for name, table in kept.items()}
    return pd.DataFrame(counts).T.reindex(columns=list(VERDICTS)).fillna(0).astype(int)


def where_it_holds(found: Mapping[str, str]) -> str:
    """In words on which grounds a claim is reproduced, is not, or cannot be told."""
    words = {REPRODUCED: "holds", NOT_REPRODUCED: "fails", NOT_DECIDABLE: "is open"}
    said = []
    for verdict, word in words.items():
        grounds = [name for name, given in found.items() if given == verdict]
        if grounds:
            said.append(f"{word} {_listed(_places(grounds))}")
    return "; ".join(said) if said else "is measured nowhere"


def _places(grounds: Sequence[str]) -> list[str]:
    """Grounds as ends of a sentence."""
    if not set(WORLDS) <= set(grounds):
        return [_WHERE.get(name, f"on {name}") for name in grounds]
    return [_BOTH_WORLDS, *_places([name for name in grounds if name not in WORLDS])]


def _board(settings: ClaimSettings, grounds: Mapping[str, pd.DataFrame]) -> str:
    """The counts, and a line per claim."""
    head = ["", "claim", "the paper", *(LABELS.get(name, name) for name in grounds), "in words"]
    lines = [_counts(grounds), "", _row(head), "|" + " --- |" * len(head)]
    lines += [_line(claim, grounds, settings.why.get(claim.name)) for claim in settings.claims]
    return "\n".join(lines)


def _summary(settings: ClaimSettings, grounds: Mapping[str, pd.DataFrame]) -> str:
    """How many claims hold, the counts of every ground, and the headlines with what was found."""
    verdicts = {claim.name: _verdicts(claim.name, grounds) for claim in settings.claims}
    head = ["the paper says", "what was found here"]
    rows = [
        _row([f"{headline.claim} ({name})", _found(name, grounds, settings.why.get(name))])
        for name, headline in HEADLINES.items()
        if name in verdicts
    ]
    return "\n".join(
        [
            f"{len(verdicts)} claims of the paper were judged by rules written down beforehand. "
            f"{_agreement(verdicts.values())} "
            f"{sum(map(decided, verdicts.values()))} are decided on real data, or in both trained "
            "worlds alike.",
            "",
            _counts(grounds),
            "",
            _row(head),
            "|" + " --- |" * len(head),
            *rows,
        ]
    )


def _agreement(verdicts: Iterable[Mapping[str, str]]) -> str:
    """How many claims hold on all grounds that decide them, fail there, differ, or are open."""
    final = [{*found.values()} & {REPRODUCED, NOT_REPRODUCED} for found in verdicts]
    hold, fail = final.count({REPRODUCED}), final.count({NOT_REPRODUCED})
    differ, undecided = final.count({REPRODUCED, NOT_REPRODUCED}), final.count(set())
    return (
        f"Of these, {hold} hold on every ground that decides them, {fail} fail on every one, "
        f"the grounds differ about {differ}, and {undecided} are open on all."
    )


def _found(name: str, grounds: Mapping[str, pd.DataFrame], why: str | None) -> str:
    """What was found of a headline: numbers, verdicts, and why we think so."""
    rows = {ground: table.loc[name] for ground, table in grounds.items() if name in table.index}
    words = found_in_words(HEADLINES[name], rows)
    return f"{words} {why}" if why else words


def _counts(grounds: Mapping[str, pd.DataFrame]) -> str:
    """A row per ground: where its numbers come from, how many claims have each verdict there."""
    head = ["ground", "its numbers come from", *VERDICTS]
    lines = [_row(head), "|" + " --- |" * len(head)]
    for name, row in ground_counts(grounds).iterrows():
        ground = str(name)
        cells = [LABELS.get(ground, ground), _NUMBERS_FROM.get(ground, f"the scale {ground}")]
        lines.append(_row([*cells, *map(str, row)]))
    return "\n".join(lines)


def _verdicts(claim: str, grounds: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """A claim's verdict on each ground that judged it."""
    return {
        name: str(table.loc[claim, "verdict"])
        for name, table in grounds.items()
        if claim in table.index
    }


def _line(claim: Claim, grounds: Mapping[str, pd.DataFrame], why: str | None) -> str:
    cells = [claim.name, claim.claim, claim.paper]
    for table in grounds.values():
        if claim.name not in table.index:
            cells.append("not run")
            continue
        row = table.loc[claim.name]
        cells.append("–" if row["verdict"] == NOT_MEASURED else _cell(row))
    words = f"It {where_it_holds(_verdicts(claim.name, grounds))}." + (f" {why}" if why else "")
    return _row([*cells, words])


def _cell(row: pd.Series) -> str:
    """A ground's number and verdict, and the part that decides it where the number is another's."""
    cell = f"{with_interval(row)}: **{row['verdict']}**"
    said = str(row["reason"]).partition(": ")[2].split("; ")
    shown = str(row["part"]).replace("_", " ")
    own = row["verdict"] == REPRODUCED or any(part.startswith(f"{shown} ") for part in said)
    return cell if own or not said[0] else f"{cell} ({said[0]})"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
