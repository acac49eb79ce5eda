"""The table of methods on made-up runs."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.methods.answer import answer
from olmix.study.methods import load_methods
from olmix.tables import SwarmTable

METHODS = load_methods(Path(__file__).parents[3] / "config" / "methods")
BPB = {
    "autoscale": 1.1, "bimix": 1.3, "data_mixing_laws": 0.9, "olmix_base": 0.8,
    "olmix_ensemble": 0.85, "regmix": 1.0,
}  # fmt: skip
RUNS = {
    "autoscale": 5, "bimix": 4, "data_mixing_laws": 6, "olmix_base": 9, "olmix_ensemble": 3,
    "regmix": 30,
}  # fmt: skip


def table(runs: dict[str, float]) -> SwarmTable:
    mixes = np.full((len(runs), 2), 0.5)
    metrics = np.array([[bpb - 0.2, bpb + 0.2] for bpb in runs.values()])
    return SwarmTable(tuple(runs), ("a", "b"), mixes, ("task0", "task1"), metrics)


def test_methods_are_compared_with_each_other_and_with_natural(question, tmp_path):
    swarms = {
        f"method-{name}": table({f"run{k}": 1.0 for k in range(runs)})
        for name, runs in RUNS.items()
    }
    proposals = {
        name: {"average": bpb / 2, "repetition": {"a": 1.0, "b": 2.5}} for name, bpb in BPB.items()
    }
    data = question(
        {},
        swarms | {"methods-target": table(BPB), "natural-topics": table({"natural-0000": 1.2})},
        {"methods": proposals},
        planned={
            "methods": [asdict(method) for method in METHODS.values()],
            "swarms": {name: f"method-{name}" for name in METHODS},
            "natural": "natural-topics",
            "target": ["methods-target"],
        },
    )
    answer(data, Answer(tmp_path / "methods", "methods", data))

    frame = pd.read_csv(tmp_path / "methods" / "methods.csv").set_index("method")
    assert frame["target_bpb"].to_dict() == pytest.approx(BPB | {"natural": 1.2})
    assert frame["proxy_runs"].to_dict() == RUNS | {"natural": 0}
    assert frame.loc["bimix", "below_natural"] == pytest.approx(-0.1)
    assert frame.loc["regmix", ["predicted_bpb", "largest_repetition"]].tolist() == [0.5, 2.5]
    assert frame.loc["autoscale", "proxy_size"] == "target"
    summary = read_json(tmp_path / "methods" / "summary.json")
    assert summary["lowest_target_bpb"] == "olmix_base"
    assert summary["below_natural"]["olmix_base"] == pytest.approx(0.4)
