"""The evolving-domain study on measurements made by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json, write_json
from olmix.questions.answer import Answer
from olmix.questions.updates.answer import answer, by_strategy, data_efficiency, improvements
from olmix.study.chain import Chain
from olmix.tables import SwarmTable

DOMAINS = ("web", "code", "books")
RUNS = {"full_recomputation": 800, "partial_mixture_reuse": 200}
# Improvements over a natural BPB of 1, in percent, by strategy and seed.
GAINS = {"full_recomputation": (10.0, 12.0), "partial_mixture_reuse": (9.0, 8.0)}
CHAINS = [Chain(strategy, 3, "relaxed", seed) for strategy in GAINS for seed in (0, 1)]
COSTS = [(chain.to_dict(), RUNS[chain.strategy]) for chain in CHAINS]
PLANNED = {
    "chains": COSTS, "target": "main-target", "mixes": "main-last", "draws": True,
    "choices": {}, "named": {},
}  # fmt: skip
MIXES = {
    "natural": [0.6, 0.3, 0.1],
    CHAINS[0].name: [0.3, 0.3, 0.4],
    CHAINS[1].name: [0.2, 0.3, 0.5],
    CHAINS[2].name: [0.25, 0.35, 0.4],
    CHAINS[3].name: [0.5, 0.3, 0.2],
}


def bpb() -> dict[str, float]:
    return {"natural": 1.0} | {
        chain.name: 1 - GAINS[chain.strategy][chain.seed] / 100 for chain in CHAINS
    }


def targets() -> SwarmTable:
    averages = np.array(list(bpb().values()))
    # Two tasks around the average.
    metrics = np.column_stack([averages - 0.1, averages + 0.1])
    return SwarmTable(tuple(MIXES), DOMAINS, np.array(list(MIXES.values())), ("x", "y"), metrics)


def curve(steps, natural, partial) -> pd.DataFrame:
    return pd.DataFrame(
        [{"mix": "natural", "step": s, "bpb": b} for s, b in zip(steps, natural, strict=True)]
        + [
            {"mix": "partial_mixture_reuse", "step": s, "bpb": b}
            for s, b in zip(steps, partial, strict=True)
        ]
    )


@pytest.fixture
def answered(question, tmp_path):
    records = {name: dict(zip(DOMAINS, mix, strict=True)) for name, mix in MIXES.items()}
    data = question({}, {"main-target": targets()}, {"main-last": records}, planned=PLANNED)
    folders = {}
    for name, start in (("natural", 1.4), (CHAINS[2].name, 1.2)):
        folders[name] = tmp_path / "runs" / name
        evaluations = [
            {"step": step, "result": {"average": start - step / 100}} for step in (10, 20, 40)
        ]
        write_json(folders[name] / "run.json", {"evaluations": evaluations})
    data = replace(data, runs={"main-target": folders})
    answer(data, Answer(tmp_path / "updates", "updates", data))
    return tmp_path / "updates"


def test_improvements_are_over_natural():
    frame = improvements(bpb(), COSTS)
    assert frame["improvement"].tolist() == pytest.approx([10, 12, 9, 8])
    assert frame["proxy_runs"].tolist() == [800, 800, 200, 200]
    table = by_strategy(frame).set_index("strategy")
    assert table.loc["full_recomputation", ["mean", "low", "high", "seeds"]].tolist() == (
        pytest.approx([11, 10, 12, 2])
    )


def test_the_answer(answered):
    summary = read_json(answered / "summary.json")
    assert summary["natural_bpb"] == pytest.approx(1.0)
    partial = summary["strategies"]["partial_mixture_reuse-c3"]
    assert partial["improvement"] == pytest.approx(8.5)
    assert partial["share_of_full_recomputation"] == pytest.approx(8.5 / 11)
    assert partial["fewer_runs"] == pytest.approx(0.75)
    # The best seeds: full recomputation's second, partial reuse's first.
    assert summary["partial_to_full_tv"] == pytest.approx(0.1)
    assert summary["partial_to_natural_tv"] == pytest.approx(0.35)
    mixes = pd.read_csv(answered / "full_domain_mixtures.csv")
    assert mixes["full_recomputation"].tolist() == pytest.approx([0.2, 0.3, 0.5])
    assert mixes["partial_mixture_reuse"].tolist() == pytest.approx([0.25, 0.35, 0.4])
    # natural ends at 1.0 after 40 steps; partial passes it at 20.
    assert summary["data_efficiency"] == pytest.approx(2.0)
    assert len(pd.read_csv(answered / "checkpoints.csv")) == 6
    assert len(pd.read_csv(answered / "main_results.csv")) == 4
    assert (answered / "provenance.json").is_file()


def test_distances_are_by_seed(answered):
    table = pd.read_csv(answered / "total_variation.csv").set_index(["strategy", "seed"])
    partial = table.loc["partial_mixture_reuse"]
    assert partial["to_natural"].tolist() == pytest.approx([0.35, 0.1])
    # Each seed against full recomputation of the same seed.
    assert partial["to_full_recomputation"].tolist() == pytest.approx([0.05, 0.3])
    assert table.loc["full_recomputation", "to_full_recomputation"].tolist() == [0, 0]


def test_runs_that_were_not_trained_have_no_curve(question, tmp_path):
    records = {name: dict(zip(DOMAINS, mix, strict=True)) for name, mix in MIXES.items()}
    data = question({}, {"main-target": targets()}, {"main-last": records}, planned=PLANNED)
    answer(data, Answer(tmp_path / "updates", "updates", data))
    summary = read_json(tmp_path / "updates" / "summary.json")
    assert summary["partial_to_full_tv"] == pytest.approx(0.1)
    assert "data_efficiency" not in summary
    assert not (tmp_path / "updates" / "checkpoints.csv").exists()


@pytest.mark.parametrize(
    ("partial", "times"),
    [
        ([1.0, 0.8, 0.6], 40 / 15),  # half way between 10 and 20 it is at 0.9
        ([0.9, 0.8, 0.7], 4.0),  # there at the first evaluation
        ([1.2, 1.1, 0.9], 1.0),
        ([1.2, 1.1, 1.0], None),
        ([0.9, 1.0, 1.0], 4.0),  # the first time counts
    ],
)
def test_data_efficiency(partial, times):
    found = data_efficiency(curve([10, 20, 40], [1.3, 1.1, 0.9], partial))
    assert found == (None if times is None else pytest.approx(times))


def test_data_efficiency_takes_the_steps_in_order():
    table = curve([10, 20, 40], [1.3, 1.1, 0.9], [1.0, 0.8, 0.6])
    assert data_efficiency(table.iloc[::-1]) == pytest.approx(40 / 15)
