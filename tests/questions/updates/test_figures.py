"""Figures of the evolving-domain study: every series where the tables put it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from olmix.files import write_json
from olmix.presentation.strategies import side_by_side
from olmix.presentation.style import style
from olmix.questions.budgets import figures as budgets
from olmix.questions.updates import figures as updates
from olmix.questions.updates.answer import by_strategy
from olmix.updates.strategies import strategy_of

STRATEGIES = {"full_recomputation": (1, 2, 3), "swarm_reuse": (3,), "partial_mixture_reuse": (3,)}


@pytest.fixture(autouse=True)
def in_style():
    with style():
        yield
    plt.close("all")


def chains(requested: str, multipliers=None) -> list[dict]:
    return [
        {"strategy": strategy, "c": c, "requested": requested, "seed": seed,
         "proxy_runs": 100 * c + 10 * number, "bpb": 1.0, "improvement": c + number + 0.5 * seed}
        for number, (strategy, every) in enumerate(STRATEGIES.items())
        for c in multipliers or every
        for seed in (0, 1)
    ]  # fmt: skip


@pytest.fixture
def main(tmp_path):
    frame = pd.DataFrame(chains("relaxed"))
    frame.to_csv(tmp_path / "main_results.csv", index=False)
    by_strategy(frame).to_csv(tmp_path / "main_results_by_strategy.csv", index=False)
    return tmp_path


def series(axis) -> dict[str, tuple[list, list]]:
    """The mean line of every strategy shown, by label."""
    lines = {
        bars.get_label(): bars.lines[0]
        for bars in axis.containers
        if not bars.get_label().startswith("_")
    }
    return {name: (list(line.get_xdata()), list(line.get_ydata())) for name, line in lines.items()}


def test_improvement_against_runs(main):
    (axis,) = updates.main_results(main).axes
    assert series(axis) == {
        "full recomputation": ([100, 200, 300], [1.25, 2.25, 3.25]),
        "swarm reuse": ([310], [4.25]),
        "partial mixture reuse": ([320], [5.25]),
    }
    assert axis.get_xlabel() == "proxy runs over all updates"
    assert axis.get_ylabel() == "improvement over natural (% of BPB)"
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["full recomputation", "swarm reuse", "partial mixture reuse"]
    # Marks of the legend are lines without the bars that would hide them.
    marks = [mark.get_marker() for mark in axis.get_legend().legend_handles]
    assert marks == [strategy_of(name).marker for name in STRATEGIES]
    dots = [len(c.get_offsets()) for c in axis.collections if hasattr(c, "get_sizes")
            and len(c.get_sizes())]  # fmt: skip
    assert dots == [6, 2, 2]


def test_points_of_the_same_runs_stand_side_by_side():
    runs = pd.Series([100, 160, 161, 300])
    moved = side_by_side(runs)
    assert moved[[0, 3]].tolist() == [100, 300]
    assert moved[[1, 2]].mean() == pytest.approx(160.5)
    assert moved[2] - moved[1] > 1
    assert side_by_side(pd.Series([5])).tolist() == [5]


@pytest.mark.parametrize(("times", "written"), [(2.0, ["2.00 times fewer steps"]), (None, [])])
def test_checkpoints(tmp_path, times, written):
    rows = [
        {"mix": mix, "step": step, "bpb": start - step / 100}
        for mix, start in (("natural", 1.4), ("partial_mixture_reuse", 1.2)) for step in (10, 40)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "checkpoints.csv", index=False)
    write_json(tmp_path / "summary.json", {"data_efficiency": times})
    (axis,) = updates.checkpoints(tmp_path).axes
    natural, partial, goal = axis.lines
    assert natural.get_label() == "natural"
    assert list(partial.get_ydata()) == pytest.approx([1.1, 0.8])
    assert list(goal.get_ydata()) == pytest.approx([1.0, 1.0])
    assert [text.get_text() for text in axis.texts if text.get_text()] == written
    arrows = [text for text in axis.texts if text.arrow_patch]
    # From natural's last step, 40, to half of it, at natural's last BPB.
    assert len(arrows) == len(written)
    for arrow in arrows:
        assert (*arrow.xyann, *arrow.xy) == pytest.approx((40, 1.0, 20, 1.0))
    assert axis.get_xlabel() == "training step of the target"


def test_proposed_mixes_show_the_domains_that_differ_most(tmp_path):
    count = 20
    natural = np.full(count, 1 / count)
    full = natural + np.linspace(-0.04, 0.04, count)
    table = pd.DataFrame(
        {"domain": [f"d{i}" for i in range(count)], "natural": natural,
         "full_recomputation": full, "partial_mixture_reuse": natural}
    )  # fmt: skip
    table.to_csv(tmp_path / "full_domain_mixtures.csv", index=False)
    (axis,) = updates.proposed_mixes(tmp_path).axes
    names = [label.get_text() for label in axis.get_xticklabels()]
    assert len(names) == updates.SHOWN
    assert set(names) == {f"d{i}" for i in (*range(6), *range(14, 20))}
    heights = np.array([bar.get_height() for bar in axis.patches]).reshape(3, -1)
    places = [int(name[1:]) for name in names]
    np.testing.assert_allclose(heights[1], full[places])
    assert axis.get_ylabel() == "weight in the mix"


@pytest.fixture
def low(tmp_path):
    frame = pd.DataFrame(chains("relaxed", (1, 2, 3)) + chains("tight", (1, 2, 3)))
    frame.to_csv(tmp_path / "budgets.csv", index=False)
    by_strategy(frame).to_csv(tmp_path / "budgets_by_strategy.csv", index=False)
    return tmp_path


def test_the_tight_figure_has_one_budget_of_every_reuse(low):
    (axis,) = budgets.main_results_6t(low).axes
    shown = series(axis)
    assert shown["full recomputation"][0] == [100, 200, 300]
    assert shown["swarm reuse"] == ([310], [4.25])


def test_low_budgets_compare_with_the_cheapest_full_recomputation(low):
    figure = budgets.low_budget(low)
    assert [axis.get_title() for axis in figure.axes] == ["R relaxed", "R tight"]
    for axis in figure.axes:
        shown = series(axis)
        assert shown["full recomputation"] == ([100], [1.25])
        assert shown["swarm reuse"][0] == [110, 210, 310]
