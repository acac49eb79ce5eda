import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.best_run import propose_best_run
from olmix.proposers.proposal import Request
from olmix.tables import SwarmTable

SWARM = SwarmTable(
    runs=("r0", "r1", "r2"),
    domains=("a", "b"),
    mixes=np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]),
    tasks=("t0", "t1"),
    metrics=np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 3.0]]),
)


def request(cap_a=None):
    prior = Mix(("a", "b"), [0.5, 0.5])
    if cap_a is None:
        return Request(prior, 0.05, np.array([1e9, 1e9]))
    return Request(prior, 0.05, np.array([cap_a, 1.0]) * 1e9, 1.0, 1e9)


def test_the_lowest_measured_average():
    proposal = propose_best_run(SWARM, request())
    assert proposal.mix == Mix(("a", "b"), [0.9, 0.1])
    assert proposal.average == proposal.objective == 1.0
    assert proposal.predicted == {"t0": 1.0, "t1": 1.0}
    assert proposal.solver["run"] == "r0"


def test_the_best_that_meets_the_caps():
    assert propose_best_run(SWARM, request(0.6)).solver["run"] == "r1"


def test_the_worst():
    assert propose_best_run(SWARM, request(), maximise=True).solver["run"] == "r2"


def test_where_none_meets_the_caps_the_best_is_cut_to_them():
    proposal = propose_best_run(SWARM, request(0.05))
    assert proposal.solver["run"] == "r0"
    assert proposal.mix.to_dict() == pytest.approx({"a": 0.05, "b": 0.95})
    assert proposal.status == "measured, cut to the caps"


def test_another_order_is_refused():
    wrong = Request(Mix(("b", "a"), [0.5, 0.5]), 0.0, np.ones(2))
    with pytest.raises(OlmixError, match="in another order"):
        propose_best_run(SWARM, wrong)
