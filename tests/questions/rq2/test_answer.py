import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.rq2.answer import answer
from olmix.tables import SwarmTable

COUNTS, MULTIPLIERS, SEEDS = [2, 3, 4], [1, 2, 3], 2
SETTINGS = {
    "seeds": SEEDS,
    "rq2": {"domains": COUNTS, "multipliers": MULTIPLIERS, "target_multipliers": [1, 2]},
}

PLANNED = {
    "pools": [(2, "topics-2"), (3, "topics-3"), (4, "topics")],
    "proxy": ["rq2-proxy"],
    "target": ["rq2-target"],
}


def _runs(values: dict[str, float]) -> SwarmTable:
    """Proposals whose average BPB over two tasks is as given."""
    averages = np.array(list(values.values()))
    metrics = np.column_stack([averages - 0.1, averages + 0.1])
    mixes = np.full((len(values), 2), 0.5)
    return SwarmTable(tuple(values), ("a", "b"), mixes, ("one", "two"), metrics)


@pytest.fixture
def swarms():
    """Error (3 - c)/10 for every m, and seed 1 twice as far: curves that collapse exactly.

    With the target, m = 4 is twice as far from the best as m = 2.
    """
    proxy = {
        f"m{m}-c{c}-seed{seed}": 0.5 + m + (3 - c) / 10 * (1 + seed)
        for m in COUNTS for c in MULTIPLIERS for seed in range(SEEDS)
    }  # fmt: skip
    target = {
        f"m{m}-c{c}-seed{seed}": 1.5 + m / 10 * (2 - c)
        for m in (2, 4) for c in (1, 2) for seed in range(SEEDS)
    }  # fmt: skip
    pools = {"topics": 20, "topics-2": 18, "topics-3": 24}
    return {
        "rq2-proxy": _runs(proxy),
        "rq2-target": _runs(target),
        **{name: _runs({f"run{i}": 1.0 for i in range(size)}) for name, size in pools.items()},
    }


def test_errors_are_from_the_best_of_the_sweep(question, swarms, tmp_path):
    data = question(SETTINGS, swarms, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq2", "rq2", data))
    curves = pd.read_csv(tmp_path / "rq2" / "swarm_size.csv").set_index(["domains", "multiplier"])
    assert len(curves) == len(COUNTS) * len(MULTIPLIERS)
    for m in COUNTS:
        for c in MULTIPLIERS:
            row, step = curves.loc[(m, c)], (3 - c) / 10
            assert row["lowest"] == pytest.approx(step)
            assert row["error"] == pytest.approx(1.5 * step)
            assert row["highest"] == pytest.approx(2 * step)
            assert row["runs"] == c * (m + 1)
    assert curves.loc[(4, 3), "pool_share"] == pytest.approx(15 / 20)
    assert curves.loc[(2, 2), "pool_share"] == pytest.approx(6 / 18)
    proposals = pd.read_csv(tmp_path / "rq2" / "swarm_size_proposals.csv")
    assert len(proposals) == len(curves) * SEEDS
    assert (proposals.groupby("domains")["error"].min() == 0).all()


def test_target_errors_and_summary(question, swarms, tmp_path):
    data = question(SETTINGS, swarms, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq2", "rq2", data))
    curves = pd.read_csv(tmp_path / "rq2" / "swarm_size_target.csv")
    assert curves["domains"].tolist() == [2, 2, 4, 4]
    assert curves["error"].tolist() == pytest.approx([0.2, 0, 0.4, 0])
    summary = read_json(tmp_path / "rq2" / "summary.json")
    proxy, target = summary["swarm_size"], summary["swarm_size_target"]
    # Curves that collapse: all of the variance is c's.
    assert proxy["variance_explained"] == pytest.approx({"multiplier": 1.0, "domains": 0.0})
    assert proxy["best_bpb"] == pytest.approx({"2": 2.5, "3": 3.5, "4": 4.5})
    assert proxy["error_by_multiplier"]["1"] == pytest.approx(
        {"mean": 0.3, "lowest_m": 0.3, "highest_m": 0.3}
    )
    # Errors 0.2, 0, 0.4, 0 around 0.15: variance 0.0275, of means over m 0.0225, over c 0.0025.
    assert target["variance_explained"] == pytest.approx(
        {"multiplier": 0.0225 / 0.0275, "domains": 0.0025 / 0.0275}
    )
    assert target["error_by_domains"] == pytest.approx({"2": 0.1, "4": 0.2})


def test_equal_errors_explain_nothing(question, swarms, tmp_path):
    flat = _runs(dict.fromkeys(swarms["rq2-proxy"].runs, 1.0))
    data = question(SETTINGS, swarms | {"rq2-proxy": flat}, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq2", "rq2", data))
    assert read_json(tmp_path / "rq2" / "summary.json")["swarm_size"]["variance_explained"] is None
