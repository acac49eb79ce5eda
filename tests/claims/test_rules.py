import math

import numpy as np
import pytest

from olmix.claims.rules import (
    CONTRADICTED,
    HOLDS,
    KINDS,
    NOT_DECIDABLE,
    NOT_REPRODUCED,
    OPEN,
    REPRODUCED,
    Bound,
    Estimate,
    all_of,
    standing,
    verdict,
)


@pytest.mark.parametrize(
    ("bound", "interval", "says"),
    [
        (Bound("at_least", 1.0), (1.1, 1.5), HOLDS),
        (Bound("at_least", 1.0), (1.0, 1.5), HOLDS),
        (Bound("at_least", 1.0), (0.9, 1.5), OPEN),
        (Bound("at_least", 1.0), (0.5, 0.9), CONTRADICTED),
        (Bound("at_most", 1.0), (0.5, 0.9), HOLDS),
        (Bound("at_most", 1.0), (0.5, 1.1), OPEN),
        (Bound("at_most", 1.0), (1.1, 1.2), CONTRADICTED),
        (Bound("close_to", 1.0, 0.2), (0.85, 1.15), HOLDS),
        (Bound("close_to", 1.0, 0.2), (0.7, 1.1), OPEN),
        (Bound("close_to", 1.0, 0.2), (0.5, 1.5), OPEN),
        (Bound("close_to", 1.0, 0.2), (1.3, 1.5), CONTRADICTED),
        (Bound("close_to", 1.0, 0.2), (0.5, 0.7), CONTRADICTED),
        (Bound("not_below", 1.0), (1.1, 1.2), HOLDS),
        (Bound("not_below", 1.0), (0.5, 1.1), HOLDS),
        (Bound("not_below", 1.0), (0.5, 0.9), CONTRADICTED),
    ],
)
def test_every_kind_of_bound(bound, interval, says):
    low, high = interval
    assert bound.judge(Estimate((low + high) / 2, low, high)) == says


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_number_decides_nothing(kind):
    assert Bound(kind, 0.0, 1.0).judge(Estimate(math.nan, math.nan, math.nan)) == OPEN


def test_exact_numbers_always_decide_an_order():
    assert Bound("at_least", 0.5).judge(Estimate(0.5, 0.5, 0.5)) == HOLDS
    assert Bound("at_least", 0.5).judge(Estimate(0.49, 0.49, 0.49)) == CONTRADICTED
    assert standing(Estimate(0.5, 0.5, 0.5), Bound("at_least", 0.5)) == math.inf
    assert standing(Estimate(0.4, 0.4, 0.4), Bound("at_least", 0.5)) == -math.inf


@pytest.mark.parametrize("kind", ["at_least", "at_most", "close_to"])
def test_standing_beyond_one_is_what_the_rules_call_decided(kind):
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(500):
        low, value, high = sorted(rng.uniform(-1, 1, 3))
        bound = Bound(kind, rng.uniform(-1, 1), 0.4)
        says = bound.judge(Estimate(value, low, high))
        place = standing(Estimate(value, low, high), bound)
        expected = HOLDS if place >= 1 else CONTRADICTED if place < -1 else OPEN
        assert says == expected, (low, value, high, bound)
        seen.add(says)
    assert seen == {HOLDS, OPEN, CONTRADICTED}


def test_standing_is_the_distance_in_half_widths():
    estimate = Estimate(3.0, 2.0, 5.0)
    assert standing(estimate, Bound("at_least", 1.0)) == pytest.approx(2.0)
    assert standing(estimate, Bound("at_least", 4.0)) == pytest.approx(-0.5)
    assert standing(estimate, Bound("at_most", 4.0)) == pytest.approx(0.5)
    # 1.5 above the lower end of 1.5 to 4.5, and 0.75 half-widths below the upper one.
    assert standing(estimate, Bound("close_to", 3.0, 1.5)) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("parts", "together", "claim"),
    [
        ([HOLDS, HOLDS], HOLDS, REPRODUCED),
        ([HOLDS, OPEN], OPEN, NOT_DECIDABLE),
        ([OPEN, OPEN], OPEN, NOT_DECIDABLE),
        ([HOLDS, OPEN, CONTRADICTED], CONTRADICTED, NOT_REPRODUCED),
    ],
)
def test_parts_make_a_claim(parts, together, claim):
    assert all_of(parts) == together
    assert verdict(parts) == claim


def test_nothing_measured_is_nothing_decided():
    assert all_of([]) == OPEN
