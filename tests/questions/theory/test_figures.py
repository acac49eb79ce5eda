"""The figures of §5.2: every series where the tables put it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.theory import figures as theory

SEEDS = (0, 1)


@pytest.fixture(autouse=True)
def in_style():
    with style():
        yield
    plt.close("all")


def heights(axis) -> list[list[float]]:
    return [[bar.get_height() for bar in group] for group in axis.containers]


def test_reuse_gap_joins_the_means_from_the_smallest_gap(tmp_path):
    places = {"weak": 1.0, "intermediate": 0.5, "optimal": 0.0}
    rows = [
        {"setting": setting, "mix": mix, "seed": seed, "reuse_gap": x, "predicted_gap": x,
         "gap": factor * x + seed, "bound": 100.0}
        for setting, factor in (("add_code", 2.0), ("add_pdf", 4.0))
        for mix, x in places.items()
        for seed in SEEDS
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "reuse_gap.csv", index=False)
    figure = theory.reuse_gap(tmp_path)
    (axis,) = figure.axes
    code, pdf = axis.lines[:2]
    assert list(code.get_xdata()) == [0.0, 0.5, 1.0]
    assert list(code.get_ydata()) == pytest.approx([0.5, 1.5, 2.5])
    assert list(pdf.get_ydata()) == pytest.approx([0.5, 2.5, 4.5])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "add code", "add pdf", "weak ratios", "intermediate ratios", "optimal ratios",
    ]  # fmt: skip
    assert "performance gap" in axis.get_ylabel()


def test_update_shift_has_a_panel_per_term(tmp_path):
    rows = [
        {"setting": setting, "requested": requested, "seed": seed, "shift": shift + extra,
         "reuse_gap": shift / 2, "predicted_gap": 0.0, "gap": 10 * shift, "bound": 1.0}
        for setting, extra in (("add_code", 0.0), ("add_pdf", 0.1))
        for requested, shift in (("relaxed", 0.4), ("tight", 0.2))
        for seed in SEEDS
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "update_shift.csv", index=False)
    figure = theory.update_shift(tmp_path)
    shift, reuse, gap = figure.axes
    assert [label.get_text() for label in shift.get_xticklabels()] == ["add code", "add pdf"]
    np.testing.assert_allclose(heights(shift), [[0.2, 0.3], [0.4, 0.5]])
    np.testing.assert_allclose(heights(reuse), [[0.1, 0.1], [0.2, 0.2]])
    np.testing.assert_allclose(heights(gap), [[2, 2], [4, 4]])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["R tight", "R relaxed"]


@pytest.mark.parametrize("undefined", [False, True])
def test_partial_reuse_coupling_draws_even_an_undefined_reuse_gap(tmp_path, undefined):
    rows = [
        {"strategy": strategy, "seed": seed, "shift": value, "reuse_gap": value,
         "predicted_gap": 0.0, "gap": value, "kappa": 10 * value}
        for strategy, value in (("full_mixture_reuse", 0.4), ("partial_mixture_reuse", 0.2))
        for seed in SEEDS
    ]  # fmt: skip
    if undefined:
        rows[-1]["reuse_gap"] = rows[-2]["reuse_gap"] = np.nan
    pd.DataFrame(rows).to_csv(tmp_path / "partial_reuse_coupling.csv", index=False)
    figure = theory.partial_reuse_coupling(tmp_path)
    figure.savefig(tmp_path / "drawn.png")
    assert len(figure.axes) == 4
    np.testing.assert_allclose(heights(figure.axes[3]), [[4.0], [2.0]])
    np.testing.assert_allclose(heights(figure.axes[1]), [[0.4], [np.nan if undefined else 0.2]])
    assert [axis.get_ylabel() for axis in figure.axes] == list(theory.TERMS.values())


def test_reused_vs_optimal_shows_the_largest_reused_ratios(tmp_path):
    rows = [
        {"domain": f"web:d_{number}", "seed": seed, "reused": 0.02 * number + 0.01 * seed,
         "optimal": 0.5}
        for number in range(10) for seed in SEEDS
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "reused_vs_optimal.csv", index=False)
    (axis,) = theory.reused_vs_optimal(tmp_path).axes
    names = [label.get_text() for label in axis.get_xticklabels()]
    assert names == [f"web: d {number}" for number in (9, 8, 7, 6, 5, 4, 3)]
    reused, optimal = heights(axis)
    assert reused == pytest.approx([0.02 * n + 0.005 for n in (9, 8, 7, 6, 5, 4, 3)])
    assert optimal == pytest.approx([0.5] * 7)


def test_kappa_reduction_shows_the_largest_drops_in_percent(tmp_path):
    rows = [
        {"domain": f"web:d{number}", "seed": seed, "kappa": 10.0, "reduction": float(number),
         "share": number / 10 + 0.01 * seed}
        for number in range(8) for seed in SEEDS
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "kappa_reduction.csv", index=False)
    (axis,) = theory.kappa_reduction(tmp_path).axes
    assert [bar.get_width() for bar in axis.patches] == pytest.approx(
        [70.5, 60.5, 50.5, 40.5, 30.5, 20.5]
    )
    names = {label.get_text(): y for label, y in zip(axis.get_yticklabels(), axis.get_yticks(),
                                                     strict=True)}  # fmt: skip
    assert names["web: d7"] == max(names.values()), "the largest is on top"
    assert "% of" in axis.get_xlabel()
