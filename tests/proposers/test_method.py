from dataclasses import replace

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.proposers import SOLVERS
from olmix.proposers.proposal import Request
from olmix.study.proposals import olmix_base

BASE = olmix_base()


@pytest.fixture
def case(make_world):
    world = make_world(4, 6, seed=1)
    return world, world.swarm(25, seed=2), Request.for_domains(world.domains)


def test_olmix_base_is_algorithm_1(case):
    world, swarm, request = case
    assert (BASE.regressor, BASE.granularity) == ("log_linear", "task")
    surrogate = BASE.fit(swarm)
    assert surrogate.outputs == swarm.tasks
    proposal = BASE.propose(surrogate, swarm, request)
    assert proposal.solver["name"] == "exact"
    best = BASE.propose(world.surrogate, swarm, request)
    assert proposal.mix.total_variation(best.mix) < 0.02


@pytest.mark.parametrize("proposer", SOLVERS)
def test_every_proposer(case, proposer):
    _, swarm, request = case
    method = replace(BASE, proposer=proposer, search_settings={"rounds": 3, "candidates": 50})
    proposal = method.propose(method.fit(swarm), swarm, request, seed=5)
    assert proposal.solver["name"] == proposer
    if proposer == "search":
        assert (proposal.solver["rounds"], proposal.solver["seed"]) == (3, 5)


def test_a_family_that_only_remembers_takes_its_best_run(case):
    _, swarm, request = case
    method = replace(BASE, regressor="search")
    proposal = method.propose(method.fit(swarm), swarm, request)
    assert proposal.solver["run"] == swarm.runs[swarm.metrics.mean(1).argmin()]


def test_settings_and_families_reach_the_fit(case):
    _, swarm, _ = case
    tasks = list(swarm.tasks)
    method = replace(BASE, granularity="family", regressor_settings={"ridge": 0.5})
    surrogate = method.fit(swarm, {"a": tasks[:4], "b": tasks[4:]})
    assert surrogate.regressor.ridge == 0.5
    assert surrogate.weights == pytest.approx(np.array([4, 2]) / 6)


def test_what_does_not_exist_is_refused(case):
    _, swarm, _ = case
    with pytest.raises(OlmixError, match="proposer 'guess': expected one of exact, search"):
        replace(BASE, proposer="guess")
    with pytest.raises(OlmixError, match="unknown regression family 'linear'"):
        replace(BASE, regressor="linear").fit(swarm)
    with pytest.raises(OlmixError, match="needs the task families"):
        replace(BASE, granularity="family").fit(swarm)
