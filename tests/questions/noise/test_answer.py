import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.noise.answer import answer, pooled
from olmix.tables import SwarmTable

BPB = {
    "noise-natural": [1.0, 1.2],
    "noise-olmix_base": [0.9, 0.9],
    "noise-natural-target": [0.5, 0.7, 0.6],
}


def swarm(values):
    metrics = np.array(values)[:, None] + np.array([[-0.1, 0.1]])
    runs = tuple(f"run-{i}" for i in range(len(values)))
    return SwarmTable(runs, ("a", "b"), np.full((len(values), 2), 0.5), ("x", "y"), metrics)


@pytest.fixture
def folder(question, tmp_path):
    planned = {
        "proxy": {"natural": "noise-natural", "olmix_base": "noise-olmix_base"},
        "target": {"natural": "noise-natural-target"},
    }
    tables = {name: swarm(values) for name, values in BPB.items()}
    data = question({}, tables, planned=planned)
    answer(data, Answer(tmp_path / "noise", "noise", data))
    return tmp_path / "noise"


def test_standard_deviation_by_model_and_mix(folder):
    table = pd.read_csv(folder / "noise.csv").set_index(["model", "mix"])
    assert table.loc[("proxy", "natural"), "sd"] == pytest.approx(np.sqrt(0.02))
    assert table.loc[("proxy", "olmix_base"), "sd"] == pytest.approx(0)
    target = table.loc[("target", "natural")]
    assert target[["mean", "sd", "seeds", "degrees_of_freedom"]].tolist() == (
        pytest.approx([0.6, 0.1, 3, 2])
    )
    assert target["percent"] == pytest.approx(100 / 6)
    assert len(pd.read_csv(folder / "runs.csv")) == 7


def test_mixes_are_pooled_by_their_degrees_of_freedom(folder):
    noise = pd.read_csv(folder / "noise.csv")
    sd, freedom = pooled(noise, "proxy")
    assert (sd, freedom) == (pytest.approx(np.sqrt((0.02 + 0) / 2)), 2)
    summary = read_json(folder / "summary.json")
    assert summary["target"] == {"sd": pytest.approx(0.1), "degrees_of_freedom": 2}
