"""Verdicts: from estimates with intervals and a bound to whether a claim is reproduced.

Which bound each claim has is config/claims.yaml's; here is what a bound means.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = [
    "CONTRADICTED",
    "HOLDS",
    "KINDS",
    "NOT_DECIDABLE",
    "NOT_MEASURED",
    "NOT_REPRODUCED",
    "OPEN",
    "REPRODUCED",
    "VERDICTS",
    "Bound",
    "Estimate",
    "all_of",
    "standing",
    "verdict",
]

# What one estimate, or a part of several, says.
HOLDS, CONTRADICTED, OPEN = "holds", "contradicted", "open"

# What a claim comes to.
REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
NOT_DECIDABLE = "not decidable"
NOT_MEASURED = "not measured here"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDABLE, NOT_MEASURED)


@dataclass(frozen=True)
class Estimate:
    """A number and the interval it lies in; an exact one has an interval of no width."""

    value: float
    low: float
    high: float
    label: str = ""


@dataclass(frozen=True)
class Bound:
    """A bound of one of `KINDS`; ``within`` belongs to ``close_to``."""

    kind: str
    value: float
    within: float = 0.0

    def judge(self, estimate: Estimate) -> str:
        """What one estimate says; one that is not a number leaves it open."""
        if any(math.isnan(x) for x in (estimate.value, estimate.low, estimate.high)):
            return OPEN
        return KINDS[self.kind](estimate, self)


def _at_least(estimate: Estimate, bound: Bound) -> str:
    if estimate.low >= bound.value:
        return HOLDS
    return CONTRADICTED if estimate.high < bound.value else OPEN


def _at_most(estimate: Estimate, bound: Bound) -> str:
    if estimate.high <= bound.value:
        return HOLDS
    return CONTRADICTED if estimate.low > bound.value else OPEN


def _close_to(estimate: Estimate, bound: Bound) -> str:
    low, high = bound.value - bound.within, bound.value + bound.within
    if low <= estimate.low and estimate.high <= high:
        return HOLDS
    return CONTRADICTED if estimate.high < low or estimate.low > high else OPEN


def _not_below(estimate: Estimate, bound: Bound) -> str:
    return CONTRADICTED if estimate.high < bound.value else HOLDS


#: kind of bound -> what an estimate says under it
KINDS = {
    "at_least": _at_least,
    "at_most": _at_most,
    "close_to": _close_to,
    "not_below": _not_below,
}


def standing(estimate: Estimate, bound: Bound) -> float:
    """How far on the right side of its bound an estimate is, in half-widths of its interval.

    Beyond 1 the whole interval is on the right side, below -1 on the wrong one; infinite for exact
    numbers.
    """
    down, up = estimate.value - estimate.low, estimate.high - estimate.value
    if bound.kind == "at_most":
        return _in_widths(bound.value - estimate.value, up, down)
    if bound.kind == "close_to":
        above = _in_widths(estimate.value - (bound.value - bound.within), down, up)
        below = _in_widths(bound.value + bound.within - estimate.value, up, down)
        return min(above, below)
    return _in_widths(estimate.value - bound.value, down, up)


def _in_widths(distance: float, towards: float, away: float) -> float:
    """``distance`` over the part of the interval between the estimate and its bound."""
    width = towards if distance >= 0 else away
    if width == 0:
        return math.copysign(math.inf, distance)
    return distance / width


def all_of(judged: Iterable[str]) -> str:
    """Several judgements together: all have to hold, one contradiction is enough."""
    judged = set(judged)
    if CONTRADICTED in judged:
        return CONTRADICTED
    return HOLDS if judged == {HOLDS} else OPEN


def verdict(parts: Sequence[str]) -> str:
    """The verdict on a claim from what its parts say."""
    return {HOLDS: REPRODUCED, CONTRADICTED: NOT_REPRODUCED, OPEN: NOT_DECIDABLE}[all_of(parts)]
