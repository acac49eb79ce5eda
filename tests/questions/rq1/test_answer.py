import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.rq1.answer import answer
from olmix.simulation.law import random_law
from olmix.tables import SwarmTable

FAMILIES = {"maths": ["sums", "primes"], "code": ["loops", "types", "tests"]}
TASKS = [task for tasks in FAMILIES.values() for task in tasks]
SETTINGS = {"proxy": "30m", "rq1": {"models": ["1m", "30m", "60m"]}}
PLANNED = {
    "sizes": {"1m": "rq1-1m", "30m": "rq1", "60m": "rq1-60m"},
    "target": "rq1-target",
    "shapes": {"1m": "1m", "30m": "30m", "60m": "60m", "target": "1b"},
}
MIXES = 20


@pytest.fixture
def swarms() -> dict[str, SwarmTable]:
    """A target under a law; 60m ranks as it does, 30m with noise, 1m the other way round."""
    law = random_law(DomainSet.from_token_counts({f"d{j}": 10**9 for j in range(4)}), TASKS, seed=0)
    mixes = np.random.default_rng(0).dirichlet(np.ones(4), MIXES)
    names = [f"rq1-{i:04d}" for i in range(MIXES)]
    metrics = law.bpb(mixes)
    noise = 0.3 * np.random.default_rng(1).normal(size=metrics.shape)

    def table(values):
        return SwarmTable(tuple(names), law.domains, mixes, law.tasks, values)

    return {
        "rq1-target": table(metrics),
        "rq1-60m": table(2 * metrics + 1),
        "rq1": table(metrics + noise),
        "rq1-1m": table(20 - metrics),
    }


def test_correlations_are_those_of_scipy(question, swarms, tmp_path):
    data = question(SETTINGS, swarms, families=FAMILIES, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq1", "rq1", data))
    table = pd.read_csv(tmp_path / "rq1" / "correlations.csv").set_index(["size", "output"])
    assert list(table.index) == [
        (size, output) for size in ("1m", "30m", "60m") for output in ("average", *FAMILIES)
    ]
    proxy, target = swarms["rq1"].metrics, swarms["rq1-target"].metrics
    columns = {"average": range(5), "maths": (0, 1), "code": (2, 3, 4)}
    for output, tasks in columns.items():
        pair = proxy[:, list(tasks)].mean(1), target[:, list(tasks)].mean(1)
        row = table.loc[("30m", output)]
        assert row["spearman"] == pytest.approx(spearmanr(*pair).statistic, abs=1e-9)
        assert row["pearson"] == pytest.approx(pearsonr(*pair).statistic, abs=1e-9)
        assert row["spearman_low"] < row["spearman"] < row["spearman_high"] < 1
    exact = ["spearman", "spearman_low", "spearman_high", "pearson", "pearson_low", "pearson_high"]
    assert table.loc[("60m", "average"), exact].to_numpy(float) == pytest.approx(np.ones(6))
    assert table.loc[("1m", "average"), exact].to_numpy(float) == pytest.approx(-np.ones(6))


def test_points_and_summary(question, swarms, tmp_path):
    # The pairs are by run, not by position.
    shuffled = swarms | {"rq1-60m": swarms["rq1-60m"].rows(np.arange(MIXES)[::-1])}
    data = question(SETTINGS, shuffled, families=FAMILIES, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq1", "rq1", data))
    points = pd.read_csv(tmp_path / "rq1" / "proxy_size.csv")
    assert len(points) == 3 * MIXES
    large = points[points["size"] == "60m"]
    assert large["proxy_bpb"].to_numpy() == pytest.approx(2 * large["target_bpb"].to_numpy() + 1)
    summary = read_json(tmp_path / "rq1" / "summary.json")
    assert summary["mixes"] == MIXES
    assert summary["parameters"] == {}, "the paper's sizes are those of their names"
    assert summary["highest_spearman"] == "60m"
    assert summary["spearman"]["1m"] == pytest.approx(-1)
    against = summary["spearman_against_proxy"]
    assert set(against) == {"1m", "60m"}
    assert against["60m"]["difference"] == pytest.approx(1 - summary["spearman"]["30m"])
    low, high = summary["spearman_interval"]["30m"]
    # Against a size whose correlation is always one, the interval is that of the proxy, turned.
    assert against["60m"]["interval"] == pytest.approx([1 - high, 1 - low])


def test_a_missing_pair_is_refused(question, swarms, tmp_path):
    fewer = swarms | {"rq1-1m": swarms["rq1-1m"].rows(range(19))}
    data = question(SETTINGS, fewer, planned=PLANNED)
    with pytest.raises(OlmixError, match="no proxy run 'rq1-0019'"):
        answer(data, Answer(tmp_path / "rq1", "rq1", data))
