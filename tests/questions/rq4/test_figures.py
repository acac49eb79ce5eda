"""Figures of RQ4 from made-up tables."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from olmix.files import write_json
from olmix.presentation.style import style
from olmix.questions.rq4.figures import fit_by_domains, regression_models, regression_models_sources
from olmix.regressors import FAMILIES

FAMILY_LABELS = {
    family.name: f"{family.label} (ours)" if family.ours else family.label
    for family in FAMILIES.values()
}


@pytest.fixture
def answer(tmp_path):
    curves = [
        {"level": level, "family": family, "size": size, "seed": seed, "fit": 0.1 * i + 0.01 * seed}
        for level in ("topics", "sources")
        for i, family in enumerate(FAMILY_LABELS)
        for size in (9, 18)
        for seed in (0, 1)
    ]
    pd.DataFrame(curves).to_csv(tmp_path / "fit.csv", index=False)
    by_domains = [
        row | {"domains": m} for row in curves if row["level"] == "topics" for m in (2, 4)
    ]
    pd.DataFrame(by_domains).to_csv(tmp_path / "fit_by_domains.csv", index=False)
    downstream = [
        {"level": level, "family": family, "runs": 64, "target_bpb": 1.0 + 0.01 * i,
         "target_error": 0.002}
        for level in ("topics", "sources")
        for i, family in enumerate(FAMILY_LABELS)
    ]  # fmt: skip
    pd.DataFrame(downstream).to_csv(tmp_path / "downstream.csv", index=False)
    write_json(tmp_path / "provenance.json", {"target_repeats": 4})
    return tmp_path


@pytest.mark.parametrize("draw", [regression_models, regression_models_sources])
def test_a_curve_and_a_dot_of_one_colour_per_family(answer, draw):
    with style():
        left, right = draw(answer).axes
    assert left.get_xlabel() == "swarm size K (runs)"
    assert right.get_ylabel() == "average BPB of the target"
    curves = {line.get_label(): line for line in left.get_lines()}
    assert list(curves) == list(FAMILY_LABELS.values())
    # Mean over two seeds of 0.1·i + 0.01·seed, in a band from the lowest to the highest.
    assert curves["AutoScale"].get_ydata() == pytest.approx([0.205, 0.205])
    assert len(left.collections) == len(FAMILY_LABELS)
    assert left.collections[2].get_paths()[0].get_extents().height == pytest.approx(0.01)
    for family, dot in zip(FAMILY_LABELS, right.containers, strict=True):
        assert to_hex(dot.lines[0].get_color()) == FAMILIES[family].colour.lower()
        assert dot.lines[0].get_marker() == FAMILIES[family].marker
        assert curves[FAMILY_LABELS[family]].get_color() == FAMILIES[family].colour


def test_a_panel_per_number_of_domains(answer):
    with style():
        figure = fit_by_domains(answer)
    assert [axis.get_title() for axis in figure.axes] == ["m = 2 domains", "m = 4 domains"]
    assert all(len(axis.get_lines()) == len(FAMILY_LABELS) for axis in figure.axes)
    assert len(figure.legends[0].get_texts()) == len(FAMILY_LABELS)
    width = figure.legends[0].get_window_extent().width
    assert width < figure.bbox.width, "a legend no wider than the page"
