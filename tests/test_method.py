import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.method import OLMIX_BASE, PROPOSERS, Method
from olmix.proposers.proposal import Request


@pytest.fixture
def case(make_world):
    world = make_world(4, 6, seed=1)
    return world, world.swarm(25, seed=2), Request.for_domains(world.domains)


def test_olmix_base_is_algorithm_1(case):
    world, swarm, request = case
    assert (OLMIX_BASE.regressor, OLMIX_BASE.granularity) == ("log_linear", "task")
    surrogate = OLMIX_BASE.fit(swarm)
    assert surrogate.outputs == swarm.tasks
    proposal = OLMIX_BASE.propose(surrogate, swarm, request)
    assert proposal.solver["name"] == "exact"
    best = OLMIX_BASE.propose(world.surrogate, swarm, request)
    assert proposal.mix.total_variation(best.mix) < 0.02


@pytest.mark.parametrize("proposer", PROPOSERS)
def test_every_proposer(case, proposer):
    _, swarm, request = case
    method = Method(proposer=proposer, search_settings={"rounds": 3, "candidates": 50})
    proposal = method.propose(method.fit(swarm), swarm, request, seed=5)
    assert proposal.solver["name"] == proposer
    if proposer == "search":
        assert (proposal.solver["rounds"], proposal.solver["seed"]) == (3, 5)


def test_a_family_that_only_remembers_takes_its_best_run(case):
    _, swarm, request = case
    method = Method("search", proposer="exact")
    proposal = method.propose(method.fit(swarm), swarm, request)
    assert proposal.solver["run"] == swarm.runs[swarm.metrics.mean(1).argmin()]


def test_settings_and_families_reach_the_fit(case):
    _, swarm, _ = case
    tasks = list(swarm.tasks)
    method = Method(granularity="family", regressor_settings={"ridge": 0.5})
    surrogate = method.fit(swarm, {"a": tasks[:4], "b": tasks[4:]})
    assert surrogate.regressor.ridge == 0.5
    assert surrogate.weights == pytest.approx(np.array([4, 2]) / 6)


def test_what_does_not_exist_is_refused(case):
    _, swarm, _ = case
    with pytest.raises(OlmixError, match="proposer 'guess': expected one of exact, search"):
        Method(proposer="guess")
    with pytest.raises(OlmixError, match="unknown regression family 'linear'"):
        Method("linear").fit(swarm)
    with pytest.raises(OlmixError, match="needs the task families"):
        Method(granularity="family").fit(swarm)
