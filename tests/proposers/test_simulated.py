"""The best of many: what RegMix and CLIMB propose, on a law whose optimum is known."""

import numpy as np
import pytest

from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.simulated import propose_simulated
from olmix.swarm.tempered import tempered_dirichlet


@pytest.fixture
def case(make_world):
    world = make_world(4, 6, seed=1)
    return world, Request.for_domains(world.domains, kl=0.0)


def test_it_is_the_mean_of_the_best(case):
    world, request = case
    drawn = tempered_dirichlet(request.prior.weights, 500, seed=3)
    order = np.argsort(world.surrogate.average(drawn))
    for kept in (1, 20):
        found = propose_simulated(world.surrogate, request, seed=3, candidates=500, kept=kept)
        assert found.mix.weights == pytest.approx(drawn[order[:kept]].mean(0))
        assert found.average == pytest.approx(
            float(world.surrogate.average(found.mix.weights[None])[0])
        )


def test_it_comes_near_the_optimum(case):
    world, request = case
    best = propose_exact(world.surrogate, request)
    natural = float(world.surrogate.average(request.prior.weights[None])[0])
    found = propose_simulated(world.surrogate, request, seed=0, candidates=20_000, kept=1)
    assert found.average - best.average < 0.1 * (natural - best.average)


def test_it_keeps_to_caps(case):
    world, _ = case
    tokens = world.domains.tokens.sum()
    request = Request.for_domains(world.domains, kl=0.05, repetition=2.0, requested=1.5 * tokens)
    found = propose_simulated(world.surrogate, request, seed=0, candidates=2000)
    assert (found.mix.weights <= request.caps * (1 + 1e-9)).all()
    assert found.objective > found.average
