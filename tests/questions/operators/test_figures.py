"""The figure of the operators: every bar where the table puts it."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.operators.figures import operators

OPERATORS = ["add", "remove", "partition", "revise"]


@pytest.fixture(autouse=True)
def in_style():
    with style():
        yield
    plt.close("all")


def test_bars_are_means_over_seeds(tmp_path):
    rows = [
        {"operator": operator, "strategy": strategy, "seed": seed, "tv": 0.1 * place + shift,
         "bpb": 1.0, "full_bpb": 1.0, "gap": place + shift + seed}
        for place, operator in enumerate(OPERATORS)
        for strategy, shift in (("natural", 0.5), ("full_mixture_reuse", 0.0))
        for seed in (0, 1)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "operators.csv", index=False)
    figure = operators(tmp_path)
    gap, distance = figure.axes
    assert [label.get_text() for label in gap.get_xticklabels()] == OPERATORS
    natural, reuse = ([bar.get_height() for bar in group] for group in gap.containers)
    assert natural == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert reuse == pytest.approx([0.5, 1.5, 2.5, 3.5])
    assert [bar.get_height() for bar in distance.containers[0]] == pytest.approx(
        [0.5, 0.6, 0.7, 0.8]
    )
    dots = [offset[1] for dots in gap.collections for offset in dots.get_offsets()]
    assert sorted(dots) == sorted(row["gap"] for row in rows)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["natural", "full mixture reuse"]
    assert gap.get_ylabel() == "gap to full recomputation\n(% of BPB)"
