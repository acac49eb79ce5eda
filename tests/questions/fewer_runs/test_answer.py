"""Fewer runs on measurements made by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.catalogue import plan_study
from olmix.questions.fewer_runs import captions, figures
from olmix.questions.fewer_runs.answer import answer
from olmix.study.chain import Chain
from olmix.study.scale import load_scale
from olmix.tables import SwarmTable

REPOSITORY = Path(__file__).parents[3]
# BPB of three seeds; natural's is 1.
FULL, REUSE = (0.80, 0.81, 0.79), (0.80, 0.84, 0.82)


@pytest.fixture
def answered(question, tmp_path):
    def table(chains):
        runs = ("natural", *(chain.name for chain in chains))
        metrics = np.array([[1.0], *([value] for value in chains.values())])
        return SwarmTable(runs, ("web", "code"), np.full((len(runs), 2), 0.5), ("x",), metrics)

    full = {Chain("full_recomputation", 3, "relaxed", i): FULL[i] for i in range(3)}
    new = {Chain("full_mixture_reuse", 0.5, "relaxed", i, "ensemble"): REUSE[i] for i in range(3)}
    data = question(
        {},
        {"main-target": table(full), "fewer_runs-target": table(new)},
        planned={
            "law": "log_linear",
            "groups": {
                "main-target": [(chain.to_dict(), 320) for chain in full],
                "fewer_runs-target": [(chain.to_dict(), 16) for chain in new],
            },
        },
    )
    folder = tmp_path / "fewer_runs"
    answer(data, Answer(folder, "fewer_runs", data))
    return folder


def test_the_yardstick_is_full_recomputation_with_olmix_bases_law(answered):
    summary = read_json(answered / "summary.json")
    assert summary["yardstick"]["mean"] == pytest.approx(20)
    assert summary["yardstick"]["law"] == "log_linear"
    shares = {entry["law"]: entry["share_of_yardstick"] for entry in summary["chains"]}
    assert shares == pytest.approx({"log_linear": 1.0, "ensemble": 0.9})


def test_intervals_are_those_of_students_t(answered):
    table = pd.read_csv(answered / "fewer_runs_by_law.csv").set_index("law")
    # A second implementation: with as many seeds on both sides, the pooled test of scipy.
    gains = [100 * (1 - np.array(values)) for values in (REUSE, FULL)]
    expected = ttest_ind(*gains).confidence_interval(0.95)
    row = table.loc["ensemble"]
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(expected)
    assert row["c"] == 0.5


def test_caption_and_figure_name_every_law(answered):
    figure = figures.fewer_runs(answered)
    assert [axis.get_title() for axis in figure.axes] == [
        "full recomputation",
        "full mixture reuse",
    ]
    text = captions.fewer_runs(answered)
    assert "Full recomputation by log-linear at c = 3 improves on natural by 20.0 %" in text
    assert "with 320 runs" in text


def test_chains_of_the_main_results_are_not_trained_again():
    plan = plan_study(load_scale(REPOSITORY / "config" / "scales", "smoke"), REPOSITORY)
    new = {chain.name for chain in plan.updates.groups["fewer_runs"].chains}
    others = [plan.updates.groups[name] for name in ("main", "low")]
    assert not new & {chain.name for group in others for chain in group.chains}
    told = plan.reads["fewer_runs"].planned["groups"]
    assert {chain["law"] for chain, _ in told["main-target"]} == {""}
    # c = 1 and 1.5, two seeds each, of two laws recomputed and one reused by three strategies.
    assert sum(len(chains) for chains in told.values()) == 2 * 2 * (2 + 3)
