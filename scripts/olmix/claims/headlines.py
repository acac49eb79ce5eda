"""The claims that a reader asks about first: what a mix costs and what it is worth, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

import pandas as pd

from olmix.claims.rules import NOT_MEASURED
from olmix.presentation.wording import listed

__all__ = ["GROUNDS", "HEADLINES", "Headline", "found_in_words"]

# Where a ground's numbers were found, as a sentence says it.
GROUNDS = {
    "tiny": "trained here",
    "tiny-seed1": "in the second world",
    "measured": "by the measured law",
    "published": "on the released runs",
}


@dataclass(frozen=True)
class Headline:
    """A claim in short, and how the number that it is judged by is said.

    ``measure`` begins the sentence that the number ends; the number is the first part's, times
    ``factor``, with ``digits`` behind the point and its ``unit``.
    """

    claim: str
    measure: str
    factor: int = 1
    digits: int = 0
    unit: str = ""

    def number(self, value: float) -> str:
        """A value as it is written, without its unit."""
        return f"{self.factor * value:.{self.digits}f}".replace("-", "−")


HEADLINES = {
    "C02": Headline(
        "The runs that are needed grow linearly with the domains: 3(m + 1) are enough for m",
        "The error left from 3(m + 1) runs on, as a share of that of m + 1 runs, is",
        factor=100,
        unit=" %",
    ),
    "C12": Headline(
        "Full mixture reuse keeps 95 % of the gain with 74 % fewer runs",
        "The share of the gain that is kept is",
        factor=100,
        unit=" %",
    ),
    "C13": Headline(
        "Partial mixture reuse keeps 98 % of the gain with 67 % fewer runs",
        "The share of the gain that is kept is",
        factor=100,
        unit=" %",
    ),
    "C15": Headline(
        "Reuse gains more than choosing the mix anew with about as many runs",
        "Its gain is larger by",
        digits=1,
        unit=" points",
    ),
    "C16": Headline(
        "Partial reuse's mix needs a third of the training steps of the natural mix",
        "The steps are fewer by a factor of",
        digits=2,
    ),
}


def found_in_words(headline: Headline, found: Mapping[str, pd.Series]) -> str:
    """A sentence with the number of each ground that could measure it, and the verdict there.

    ``found`` has a row of kept verdicts by the name of its ground; neighbours of one verdict share
    its mention.
    """
    known = {name: row for name, row in found.items() if row["verdict"] != NOT_MEASURED}
    said = [
        f"{listed(_number(headline, name, known[name]) for name in names)}, **{verdict}**"
        for verdict, names in groupby(known, key=lambda name: known[name]["verdict"])
    ]
    return f"{headline.measure} {'; '.join(said)}." if said else "This was measured nowhere."


def _number(headline: Headline, ground: str, row: pd.Series) -> str:
    """A value with its interval, and where it was found."""
    value, low, high = (headline.number(row[end]) for end in ("value", "low", "high"))
    interval = f" ({low} to {high})" if row["low"] < row["high"] else ""
    return f"{value}{headline.unit}{interval} {GROUNDS.get(ground, f'on {ground}')}"
