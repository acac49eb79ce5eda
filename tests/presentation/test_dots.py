import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from olmix.presentation.dots import bpb_dots, distinct_lowest, repeated_interval
from olmix.presentation.style import COLOURS, style


@pytest.fixture(autouse=True)
def in_style():
    with style():
        yield
    plt.close("all")


def drawn(values, half=None, **given):
    axis = plt.subplots()[1]
    bpb_dots(axis, [f"x{i}" for i in range(len(values))], values, half, **given)
    return axis


def colours(axis):
    return [mpl.colors.to_hex(bars.lines[0].get_color()) for bars in axis.containers]


def test_the_interval_is_students_on_the_pooled_scatter():
    # Two mixes of four runs each: 2·(4 − 1) = 6 degrees of freedom, t = 2.4469.
    half = repeated_interval(pd.Series([0.01, 0.03]), 4)
    assert half == pytest.approx(2.4469 * np.sqrt((0.01**2 + 0.03**2) / 2), rel=1e-4)


def test_about_as_many_intervals_hold_the_mean_as_should():
    rng, mixes, repeats, inside = np.random.default_rng(0), 4, 4, []
    for _ in range(500):
        runs = rng.normal(size=(mixes, repeats))
        half = repeated_interval(pd.Series(runs.std(1, ddof=1) / np.sqrt(repeats)), repeats)
        inside += (np.abs(runs.mean(1)) < half).tolist()
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_single_runs_have_no_interval():
    assert repeated_interval(pd.Series([np.nan, np.nan]), 1) is None
    assert not drawn([1.0, 2.0]).collections


def test_the_lowest_stands_out_only_where_its_interval_overlaps_no_other():
    assert distinct_lowest([1.0, 0.8, 1.1], 0.09) == 1
    assert distinct_lowest([1.0, 0.8, 1.1], 0.11) is None
    assert distinct_lowest([1.0, 0.8], None) is None
    first, second = colours(drawn([0.8, 1.0], 0.09))
    assert first == COLOURS["proposed"].lower() != second
    first, second = colours(drawn([0.8, 1.0], 0.11))
    assert first == second


def test_values_intervals_and_labels_are_where_they_belong():
    axis = drawn([1.0, 1.01], 0.02, colours=["#000000", "#0072b2"], markers=["s", "D"])
    assert [bars.lines[0].get_ydata()[0] for bars in axis.containers] == [1.0, 1.01]
    assert [bars.lines[0].get_marker() for bars in axis.containers] == ["s", "D"]
    assert colours(axis) == ["#000000", "#0072b2"]
    ends = [bars.get_segments()[0][:, 1].tolist() for bars in axis.collections]
    assert np.array(ends) == pytest.approx(np.array([(0.98, 1.02), (0.99, 1.03)]))
    assert [text.get_text() for text in axis.texts] == ["1.000", "1.010"]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["x0", "x1"]
    low, high = axis.get_ylim()
    assert 0.97 < low < 0.98
    assert 1.03 < high < 1.04


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0]])
def test_equal_values_still_have_an_axis(values):
    low, high = drawn(values).get_ylim()
    assert low < 1.0 < high
