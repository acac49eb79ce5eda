import pytest

from olmix.presentation.wording import (
    difference,
    interval,
    listed,
    lowest,
    named,
    percent,
    spoken,
)


def test_lists_read_as_sentences():
    assert listed([]) == "none"
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(iter("abc")) == "a, b and c"


def test_numbers_keep_their_sign_and_digits():
    assert difference(0.0123) == "+0.012"
    assert difference(-0.5, 1) == "−0.5"
    assert percent(0.667) == "67 %"
    assert named({"log_linear": 0.5, "full_reuse": 1}, 1) == "log-linear: 0.5, full reuse: 1.0"
    assert spoken("partial_mixture_reuse") == "partial mixture reuse"
    assert named({"30m": 0.25}, 2, say=str.upper) == "30M: 0.25"


def test_an_interval_around_zero_decides_nothing():
    assert interval([-0.1, 0.2], 1).endswith("−0.1 to +0.2, so not decided")
    assert interval([0.1, 0.2], 1) == "95 % interval +0.1 to +0.2"


@pytest.mark.parametrize(
    ("half", "said"),
    [
        (None, "a is the lowest, by single runs without intervals"),
        (0.04, "a is clearly the lowest"),
        (0.06, "none is clearly the lowest, as the intervals of a and b overlap"),
        (0.2, "none is clearly the lowest, as all intervals overlap"),
    ],
)
def test_a_lowest_is_named_only_where_no_other_interval_reaches_its_own(half, said):
    assert lowest({"c": 0.8, "a": 0.5, "b": 0.6}, half) == said
