"""The tables of methods on made-up runs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.methods.answer import answer, gain_interval
from olmix.tables import SwarmTable

COST = {"runs": 3, "tokens": 300.0, "proxy_runs": 3.0, "gpu_hours_paper": 9.0}
FREE = dict.fromkeys(COST, 0)


def table(runs: dict[str, float]) -> SwarmTable:
    mixes = np.full((len(runs), 2), 0.5)
    metrics = np.array([[bpb - 0.2, bpb + 0.2] for bpb in runs.values()])
    return SwarmTable(tuple(runs), ("a", "b"), mixes, ("task0", "task1"), metrics)


def record(**made_from) -> dict:
    return {"repetition": {"a": 1.0, "b": 2.5}, "made_from": made_from}


@pytest.fixture
def answered(question, tmp_path):
    system = {"way": "no run", "repetition_constraint": False}
    data = question(
        {},
        {
            "methods-target": table({"base": 0.9, "at_once-9": 0.8}),
            "methods-target-repeat1": table({"base": 1.0, "at_once-9": 0.9}),
            "systems-target": table({"natural": 1.0, "rounds": 0.5}),
            "systems-target-repeat1": table({"natural": 1.25, "rounds": 1.0}),
        },
        {
            "methods": {"base": record(), "at_once-9": record()},
            "systems": {"natural": record(), "rounds": record(runs={"30m": 5, "1m": 4})},
        },
        planned={
            "methods": [{"name": "base", "label": "Base", "repetition_constraint": True}],
            "systems": [
                {"name": "natural", "label": "natural", **system},
                {"name": "rounds", "label": "In rounds", **system, "way": "rounds"},
            ],
            "targets": ["methods-target", "methods-target-repeat1"],
            "answers": ["systems-target", "systems-target-repeat1"],
            "online": {},
            "costs": {"base": COST, "natural": FREE, "rounds": COST | {"runs": 20}},
            "run_costs": {
                "30m": {"runs": 1, "tokens": 100.0, "proxy_runs": 1.0},
                "1m": {"runs": 1, "tokens": 50.0, "proxy_runs": 0.1},
            },
            "left_out": {"ADMIRE-BayesOpt": "BoTorch"},
            "curve": {"rounds": {20: "rounds"}, "at once": {9: "at_once-9"}},
        },
    )
    answer(data, Answer(tmp_path / "methods", "methods", data))
    return tmp_path / "methods"


def test_gains_are_over_natural_with_the_same_order_of_data(answered):
    frame = pd.read_csv(answered / "methods.csv").set_index("method")
    assert frame["gain"].to_dict() == pytest.approx(
        {"base": (10 + 20) / 2, "natural": 0, "rounds": (50 + 20) / 2}
    )
    assert frame.loc["base", ["gain_low", "gain_high"]].tolist() == pytest.approx(
        gain_interval(np.array([10.0, 20.0]))
    )
    assert frame.loc["rounds", "target_bpb"] == pytest.approx(0.75)
    assert frame["largest_repetition"].tolist() == [2.5] * 3
    summary = read_json(answered / "summary.json")
    assert summary["largest_gain"] == "rounds"
    assert summary["left_out"] == {"ADMIRE-BayesOpt": "BoTorch"}


def test_rounds_cost_the_runs_that_they_asked_for(answered):
    frame = pd.read_csv(answered / "methods.csv").set_index("method")
    assert frame.loc["rounds", "runs"] == 9
    assert frame.loc["rounds", "tokens"] == 5 * 100 + 4 * 50
    assert frame.loc["rounds", "proxy_runs"] == pytest.approx(5.4)
    assert frame.loc["base", "proxy_runs"] == 3
    assert frame.loc["natural", "tokens"] == 0
    curve = pd.read_csv(answered / "rounds.csv").set_index("approach")
    assert curve["runs"].to_dict() == {"rounds": 9, "at once": 9}
    assert curve["gain"].to_dict() == pytest.approx({"rounds": 35, "at once": (20 + 28) / 2})


def test_the_interval_is_students(tmp_path):
    gains = np.array([3.0, 5.0, 4.0, 8.0])
    expected = ttest_1samp(gains, 0).confidence_interval(0.95)
    assert gain_interval(gains) == pytest.approx((expected.low, expected.high))
    assert np.isnan(gain_interval(gains[:1])).all()
