"""Figures of the methods from made-up tables."""

import pandas as pd
from matplotlib.collections import PathCollection

from olmix.presentation.style import style
from olmix.questions.methods.figures import methods, rounds


def test_a_numbered_point_per_method_with_its_interval(tmp_path):
    frame = pd.DataFrame(
        {
            "method": ["natural", "olmix_base", "regmix", "odm", "unimax"],
            "label": ["natural", "OlmixBase", "RegMix", "ODM", "UniMax"],
            "way": ["no run", "one swarm", "one swarm", "online", "no run"],
            "proxy_runs": [0, 27, 3.4, 0, 0],
            "gain": [0.0, 20, 10, 5, -3],
            "gain_low": [0.0, 18, 7, 4, -5],
            "gain_high": [0.0, 22, 13, 6, -1],
        }
    )
    frame.to_csv(tmp_path / "methods.csv", index=False)
    with style():
        figure = methods(tmp_path)
    axis, names = figure.axes
    assert axis.get_xscale() == "log"
    points = [c.get_offsets()[0] for c in axis.collections if isinstance(c, PathCollection)]
    assert sorted(point[1] for point in points) == [-3, 5, 10, 20]
    assert {27.0, 3.4} <= {float(point[0]) for point in points}
    assert [text.get_text() for text in names.texts] == [
        "1  UniMax: 0", "2  ODM: 0", "3  RegMix: 3.4", "4  OlmixBase: 27",
    ]  # fmt: skip
    assert [label.get_text() for label in axis.get_xticklabels()] == ["none", "1", "10", "100"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["no run", "online", "one swarm"]


def test_a_method_that_loses_far_more_than_others_gain_is_an_arrow(tmp_path):
    frame = pd.DataFrame(
        {
            "method": ["good", "bad"], "label": ["Good", "Bad"], "way": ["rounds", "one run"],
            "proxy_runs": [10, 1], "gain": [20.0, -118], "gain_low": [19.0, -130],
            "gain_high": [21.0, -105],
        }
    )  # fmt: skip
    frame.to_csv(tmp_path / "methods.csv", index=False)
    with style():
        axis = methods(tmp_path).axes[0]
    assert "1: −118 %" in [text.get_text() for text in axis.texts]
    assert axis.get_ylim()[0] > -30


def test_numbers_of_methods_alike_do_not_cover_each_other(tmp_path):
    frame = pd.DataFrame(
        {
            "method": ["a", "b", "c", "d"], "label": ["A", "B", "C", "D"], "way": ["one swarm"] * 4,
            "proxy_runs": [27.0, 27.1, 28, 28], "gain": [10.0, 10.01, 10.02, -5],
            "gain_low": [9.0, 9, 9, -6], "gain_high": [11.0, 11, 11, -4],
        }
    )  # fmt: skip
    frame.to_csv(tmp_path / "methods.csv", index=False)
    with style():
        figure = methods(tmp_path)
        figure.draw_without_rendering()
    numbers = [text for text in figure.axes[0].texts if text.get_text().isdigit()]
    boxes = [text.get_window_extent() for text in numbers]
    assert len(boxes) == 4
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_rounds_and_at_once_are_two_lines(tmp_path):
    frame = pd.DataFrame(
        {
            "approach": ["rounds", "rounds", "at once", "at once"],
            "runs": [10, 16, 10, 16],
            "gain": [5.0, 9, 6, 8],
            "gain_low": [4.0, 8, 5, 7],
            "gain_high": [6.0, 10, 7, 9],
        }
    )
    frame.to_csv(tmp_path / "rounds.csv", index=False)
    with style():
        (axis,) = rounds(tmp_path).axes
    lines = {line.get_label(): line.get_ydata().tolist() for line in axis.get_lines()}
    assert lines == {"OlmixBase in rounds": [5, 9], "OlmixBase at once": [6, 8]}
    assert "proxy runs" in axis.get_xlabel()
