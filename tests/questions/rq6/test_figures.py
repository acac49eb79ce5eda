"""Figures of RQ6 from made-up weights."""

import numpy as np
import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.rq6.figures import TOP, repetition_factor, repetition_factor_all


@pytest.fixture
def answer(tmp_path):
    # Ten domains; the later ones have more weight, and d0 has the most where k is infinite.
    rows = [
        {"factor": k, "domain": f"web:d{j}", "weight": j / 100 if j or k < np.inf else 0.5}
        for k in (2.0, 3.0, np.inf)
        for j in range(10)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "weights.csv", index=False)
    return tmp_path


def test_the_domains_with_the_largest_weights_as_lines_over_k(answer):
    with style():
        (axis,) = repetition_factor(answer).axes
    lines = axis.get_lines()
    assert [line.get_label() for line in lines] == [f"web: d{j}" for j in (0, 9, 8, 7, 6, 5, 4)]
    assert len(lines) == TOP
    assert lines[0].get_ydata() == pytest.approx([0, 0, 0.5])
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["2", "3", "∞"]
    assert axis.get_xlabel() == "repetition factor k"


def test_all_domains_are_told_apart(answer):
    with style():
        (axis,) = repetition_factor_all(answer).axes
    looks = {(line.get_color(), line.get_linestyle()) for line in axis.get_lines()}
    assert len(looks) == 10
