"""RQ4 on exact log-linear worlds, where the log-linear family must fit perfectly."""

import numpy as np
import pandas as pd
import pytest

from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.rq4.answer import answer, fit_curve
from olmix.questions.rq4.plan import COMPARED
from olmix.study.proposals import olmix_base
from olmix.tables import SwarmTable

FAMILIES = [family.name for family in COMPARED]
LEVELS = ("topics", "sources")
PLANNED = {
    "levels": {"topics": "topics", "sources": "sources"},
    "pools": [(2, "topics-2"), (3, "topics")],
    "target": ["rq4-target"],
}
SETTINGS = {
    "seeds": 1,
    "rq2": {"domains": [2, 3], "multipliers": [2, 5]},
    "rq4": {"sizes": {"topics": [12], "sources": [9]}, "held_out": 4},
}
# Target BPB by proposal: what each family, and each other solver, "measured".
TARGETS = {
    **{
        f"{level}-{family}": 1.0 + 0.01 * i for level in LEVELS for i, family in enumerate(FAMILIES)
    },
    "topics-bimix-exact": 1.2,
    "topics-bimix-exact-kl": 1.3,
    "topics-autoscale-exact-kl": 0.9,
    "topics-autoscale-search": 1.4,
}


def target_table(measured: dict[str, float]) -> SwarmTable:
    """Runs whose two tasks average to the numbers given."""
    metrics = np.array([[value - 0.1, value + 0.1] for value in measured.values()])
    mixes = np.full((len(measured), 2), 0.5)
    return SwarmTable(tuple(measured), ("a", "b"), mixes, ("task0", "task1"), metrics)


@pytest.fixture
def answered(question, make_world, tmp_path):
    world = make_world(3, 2, seed=0)
    data = question(
        SETTINGS,
        {
            "topics": world.swarm(16, seed=1),
            "topics-2": world.restricted(("d0", "d1")).swarm(10, seed=2),
            "sources": make_world(3, 2, seed=5).swarm(14, seed=3),
            "rq4-target": target_table(TARGETS),
        },
        {"rq4": {name: {"average": value / 2} for name, value in TARGETS.items()}},
        planned=PLANNED,
    )
    answer(data, Answer(tmp_path / "rq4", "rq4", data))
    return tmp_path / "rq4"


def test_the_answer_on_exact_worlds(answered):
    check_fits(answered)
    check_downstream(answered)


def check_fits(answered):
    """The log-linear family fits perfectly, and no other better."""
    curves = pd.read_csv(answered / "fit.csv")
    assert len(curves) == 2 * (len(FAMILIES) + 2)  # and two of ours
    exact = curves[curves["family"] == "log_linear"]
    assert exact["fit"].min() > 0.9999
    assert exact["fit_of_average"].min() > 0.9999
    assert (curves["fit"] <= 1 + 1e-9).all()
    topics = read_json(answered / "summary.json")["topics"]
    assert topics["best_fit_by_size"]["12"] == "log_linear"
    assert set(topics["fit_of_ours"]) == {"diminishing", "ensemble"}
    assert topics["fit_of_ours"]["ensemble"]["12"] > 0.99
    # By domains: the multiples c(m+1) that fit the pool, 6 of 10 - 4 runs and 8 of 16 - 4.
    by_domains = pd.read_csv(answered / "fit_by_domains.csv")
    assert by_domains.groupby("domains")["size"].unique().apply(list).to_dict() == {2: [6], 3: [8]}
    assert (by_domains["multiplier"] == 2).all()


def check_downstream(answered):
    """Both tables hold what the targets measured."""
    downstream = pd.read_csv(answered / "downstream.csv").set_index(["level", "family"])
    assert downstream.loc[("topics", "autoscale"), "target_bpb"] == pytest.approx(1.02)
    assert downstream.loc[("topics", "autoscale"), "predicted_bpb"] == pytest.approx(0.51)
    assert downstream.loc[("sources", "bimix"), "runs"] == 14
    table = pd.read_csv(answered / "bimix_autoscale_solvers.csv").set_index("family")
    # BiMix's own solver is search, AutoScale's exact: those are the families' own runs.
    assert table.loc["bimix"].to_dict() == pytest.approx(
        {"exact": 1.2, "exact-kl": 1.3, "search": 1.01}
    )
    assert table.loc["autoscale"].to_dict() == pytest.approx(
        {"exact": 1.02, "exact-kl": 0.9, "search": 1.4}
    )
    summary = read_json(answered / "summary.json")
    assert summary["best_solver"] == {"bimix": "search", "autoscale": "exact-kl"}
    assert summary["topics"]["lowest_target_bpb"] == "log_linear"
    assert summary["topics"]["target_bpb_above_best"]["search"] == pytest.approx(0.05)


def test_the_fit_is_the_mean_correlation_on_runs_no_fit_has_seen(make_world):
    swarm = make_world(3, 2, seed=0).swarm(16, seed=1)
    curves = fit_curve(swarm, [6], olmix_base(), held_out=4, seeds=[7]).set_index("family")
    # Written out again for the family that only remembers: the nearest of six runs.
    order = np.random.default_rng(7).permutation(16)
    test, pool = np.sort(order[:4]), np.sort(order[4:])
    known = pool[np.sort(np.random.default_rng(7).permutation(12)[:6])]
    distances = np.linalg.norm(swarm.mixes[test][:, None] - swarm.mixes[known][None], axis=2)
    predicted = swarm.metrics[known[distances.argmin(1)]]
    by_task = [np.corrcoef(predicted[:, i], swarm.metrics[test][:, i])[0, 1] for i in range(2)]
    assert curves.loc["search", "fit"] == pytest.approx(np.mean(by_task))


def test_sizes_beyond_the_pool_are_refused(make_world):
    swarm = make_world(3, 2, seed=0).swarm(16, seed=1)
    with pytest.raises(OlmixError, match="13 runs to fit on, but 4 of 16 are held out"):
        fit_curve(swarm, [13], olmix_base(), held_out=4, seeds=[0])
