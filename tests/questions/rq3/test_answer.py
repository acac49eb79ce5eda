import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.rq3.answer import answer
from olmix.simulation.law import random_law
from olmix.tables import SwarmTable

TASKS = ("sums", "loops", "facts")
RUNS, HELD_OUT = 30, 8
TARGETS = {
    "topics-sparse": 0.60,
    "topics-dense": 0.64,
    "sources-sparse": 0.52,
    "sources-dense": 0.5,
}
PRIOR_TARGETS = {"strong": 0.59, "weak": 0.7}
# Swarms measured without noise; the others measure noise alone.
TRUE = ("topics", "topics-strong", "sources")
NOISE = ("topics-dense", "topics-weak", "sources-sparse")
PLANNED = {
    "swarms": {
        "topics": {"sparse": "topics", "dense": "topics-dense"},
        "sources": {"sparse": "sources-sparse", "dense": "sources"},
    },
    "around": {
        level: {kind: f"rq3-around-{level}-{kind}" for kind in ("sparse", "dense")}
        for level in ("topics", "sources")
    },
    "priors": {"natural": "topics", "strong": "topics-strong", "weak": "topics-weak"},
    "target": ["rq3-target"],
    "prior_target": ["rq3-priors-target"],
}


def _law(level: str):
    domains = DomainSet.from_token_counts({f"{level}{j}": 10**9 for j in range(3)})
    return random_law(domains, TASKS, seed=len(level), noise=0.0)


def _swarm(name: str, size: int, seed: int, *, noise: bool = False) -> SwarmTable:
    law = _law("sources" if "sources" in name else "topics")
    rng = np.random.default_rng(seed)
    mixes = rng.dirichlet(np.ones(3), size)
    table = law.run_swarm(mixes, [f"{name}-{i}" for i in range(size)], seed=0)
    if not noise:
        return table
    metrics = 1 + 0.1 * rng.random(table.metrics.shape)
    return SwarmTable(table.runs, table.domains, mixes, table.tasks, metrics)


def _targets(values: dict[str, float]) -> SwarmTable:
    metrics = np.array(list(values.values()))[:, None] + np.array([[-0.1, 0.0, 0.1]])
    return SwarmTable(tuple(values), ("a", "b"), np.full((len(values), 2), 0.5), TASKS, metrics)


@pytest.fixture
def folder(question, tmp_path):
    swarms = {name: _swarm(name, RUNS, seed) for seed, name in enumerate(TRUE)}
    swarms |= {name: _swarm(name, RUNS, seed, noise=True) for seed, name in enumerate(NOISE)}
    for level in ("topics", "sources"):
        for seed, kind in enumerate(("sparse", "dense"), start=10):
            name = f"rq3-around-{level}-{kind}"
            swarms[name] = _swarm(name, HELD_OUT, seed)
    swarms |= {"rq3-target": _targets(TARGETS), "rq3-priors-target": _targets(PRIOR_TARGETS)}
    data = question({}, swarms, planned=PLANNED)
    answer(data, Answer(tmp_path / "rq3", "rq3", data))
    return tmp_path / "rq3"


def test_bpb_and_fit_of_the_distributions(folder):
    table = pd.read_csv(folder / "swarm_distribution.csv").set_index(["level", "distribution"])
    for name, bpb in TARGETS.items():
        assert table.loc[tuple(name.split("-")), "measured_bpb"] == pytest.approx(bpb)
    # A swarm that measured the law itself predicts the held-out runs, one of noise does not.
    for good, bad in ((("topics", "sparse"), ("topics", "dense")),
                      (("sources", "dense"), ("sources", "sparse"))):  # fmt: skip
        assert table.loc[good, "fit"] > 0.999
        assert table.loc[good, "fit_low"] > 0.99
        assert table.loc[bad, "fit"] < 0.9
        assert table.loc[bad, "fit_low"] < table.loc[bad, "fit"] < table.loc[bad, "fit_high"]


def test_priors_share_the_held_out_mixes_of_topics(folder):
    priors = pd.read_csv(folder / "dirichlet_priors.csv").set_index("prior")
    assert list(priors.index) == ["natural", "strong", "weak"]
    assert priors["measured_bpb"].tolist() == pytest.approx([0.60, 0.59, 0.7])
    table = pd.read_csv(folder / "swarm_distribution.csv").set_index(["level", "distribution"])
    # The natural prior is the sparse swarm over topics.
    columns = ["measured_bpb", "fit", "fit_low", "fit_high"]
    natural, sparse = priors.loc["natural", columns], table.loc[("topics", "sparse"), columns]
    assert natural.tolist() == sparse.tolist()
    assert priors.loc["strong", "fit"] > 0.999
    assert priors.loc["weak", "fit"] < 0.9


def test_fit_is_the_mean_of_the_tasks(folder):
    tasks = pd.read_csv(folder / "fit_by_task.csv")
    table = pd.read_csv(folder / "swarm_distribution.csv").set_index(["level", "distribution"])
    means = tasks.groupby(["level", "swarm"])["fit"].mean()
    assert len(tasks) == 6 * len(TASKS)
    assert means["topics", "topics-dense"] == pytest.approx(table.loc[("topics", "dense"), "fit"])
    assert means["sources", "sources"] == pytest.approx(table.loc[("sources", "dense"), "fit"])


def test_summary_says_which_is_better_by_how_much(folder):
    summary = read_json(folder / "summary.json")
    topics, sources = (summary["distributions"][level] for level in ("topics", "sources"))
    assert (topics["lower_bpb"], topics["better_fit"]) == ("sparse", "sparse")
    assert (sources["lower_bpb"], sources["better_fit"]) == ("dense", "dense")
    assert topics["sparse_minus_dense_bpb"] == pytest.approx(-0.04)
    assert topics["sparse_minus_dense_fit"]["interval"][0] > 0
    assert sources["sparse_minus_dense_fit"]["interval"][1] < 0
    priors = summary["priors"]
    assert priors["lowest_bpb"] == "strong"
    assert priors["against_natural"]["strong"]["bpb"] == pytest.approx(-0.01)
    assert priors["against_natural"]["weak"]["bpb"] == pytest.approx(0.1)
    assert priors["against_natural"]["weak"]["fit"]["interval"][1] < 0


def test_resamples_are_there_to_be_compared_in_pairs(folder):
    table = pd.read_csv(folder / "fit_resampled.csv")
    assert list(table.columns) == ["topics/topics", "topics/topics-dense", "topics/topics-strong",
                                   "topics/topics-weak", "sources/sources-sparse",
                                   "sources/sources"]  # fmt: skip
    summary = read_json(folder / "summary.json")["distributions"]["topics"]
    difference = table["topics/topics"] - table["topics/topics-dense"]
    assert np.quantile(difference, [0.025, 0.975]) == pytest.approx(
        summary["sparse_minus_dense_fit"]["interval"]
    )
