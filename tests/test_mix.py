import math

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix

THREE = Mix(("web", "code", "wiki"), [0.25, 0.25, 0.5])


def test_nearly_one_is_renormalised_and_frozen():
    mix = Mix(("a", "b"), [0.5, 0.5 + 9e-7])
    assert math.fsum(mix.weights) == pytest.approx(1.0, abs=2e-16)
    with pytest.raises(ValueError, match="read-only"):
        mix.weights[0] = 1.0


def test_the_callers_array_is_not_kept():
    weights = np.array([0.5, 0.5])
    mix = Mix(("a", "b"), weights)
    weights[0] = 7.0
    assert mix["a"] == 0.5


@pytest.mark.parametrize(
    ("names", "weights", "message"),
    [
        (("a", "b"), [0.5, 0.500002], "sum to 1.000002"),
        (("a", "b"), [1.25, -0.25], "weight of 'b' is -0.25"),
        (("a", "b"), [math.nan, 1.0], "weight of 'a' is nan"),
        (("a", "b"), [math.inf, 1.0], "weight of 'a' is inf"),
        (("a", "b", "a"), [0.5, 0.25, 0.25], "'a' appears more than once"),
        (("a", "b"), [1.0], "2 domains but 1 weights"),
        (("a", "b"), ["0.5", 0.5], "weight of 'a' is '0.5'"),
        (("a", "b"), [None, 1.0], "weight of 'a' is None"),
        ((), [], "no domains"),
    ],
)
def test_what_is_not_a_mix_is_refused_with_the_value(names, weights, message):
    with pytest.raises(OlmixError, match=message) as error:
        Mix(names, weights)
    assert "\n" not in str(error.value)


def test_dict_round_trip_is_exact():
    mix = Mix.from_dict({"a": 1 / 3, "b": 1 / 7, "c": 1 - 1 / 3 - 1 / 7})
    assert Mix.from_dict(mix.to_dict()) == mix


def test_total_variation_by_hand():
    other = Mix(("code", "web", "math"), [0.5, 0.25, 0.25])
    # |0.25-0.25| + |0.25-0.5| + |0.5-0| + |0-0.25| = 1, halved
    assert THREE.total_variation(other) == 0.5
    assert other.total_variation(THREE) == 0.5
    assert THREE.total_variation(THREE) == 0.0
    assert THREE.total_variation(Mix(("x",), [1.0])) == 1.0


def test_restricted_keeps_ratios():
    assert THREE.restricted(["wiki", "web"]) == Mix(("wiki", "web"), [2 / 3, 1 / 3])
    with pytest.raises(OlmixError, match="no domain 'books'"):
        THREE.restricted(["books"])
    with pytest.raises(OlmixError, match="b, c have no weight"):
        Mix(("a", "b", "c"), [1.0, 0.0, 0.0]).restricted(["b", "c"])


def test_aligned_reorders_and_fills_with_zero():
    aligned = THREE.aligned(["wiki", "math", "code", "web"])
    assert aligned == Mix(("wiki", "math", "code", "web"), [0.5, 0.0, 0.25, 0.25])
    assert aligned.support == ("wiki", "code", "web")
    assert aligned.aligned(THREE.names) == THREE  # weight 0 may be dropped
    with pytest.raises(OlmixError, match=r"'code' has weight 0\.25 but is not among web, wiki"):
        THREE.aligned(["web", "wiki"])


def test_equality_is_by_names_order_and_weights():
    assert Mix(("a", "b"), [0.5, 0.5]) == Mix(("a", "b"), [0.5, 0.5])
    assert Mix(("a", "b"), [0.5, 0.5]) != Mix(("b", "a"), [0.5, 0.5])
    assert Mix(("a", "b"), [0.5, 0.5]) != {"a": 0.5, "b": 0.5}
