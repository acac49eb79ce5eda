import numpy as np
import pytest

from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.search import propose_search
from olmix.regressors.surrogate import fit_surrogate

QUICK = {"rounds": 8, "candidates": 2000}


@pytest.fixture
def world(make_world):
    return make_world(4, 6, seed=0)


@pytest.mark.parametrize("slack", [None, 1.0, 1.4])
@pytest.mark.parametrize("kl", [0.0, 0.05])
def test_close_to_the_optimum_on_a_small_problem(world, make_request, kl, slack):
    request = make_request(4, kl=kl, slack=slack, seed=1)
    exact = propose_exact(world.surrogate, request)
    found = propose_search(world.surrogate, request, seed=2, **QUICK)
    assert exact.objective - 1e-9 <= found.objective <= exact.objective + 2e-3
    assert (found.mix.weights <= request.caps + 1e-12).all()


def test_the_same_seed_gives_the_same_mix(world, make_request):
    request = make_request(4, kl=0.01, slack=1.5, seed=1)
    first, again, other = (
        propose_search(world.surrogate, request, seed=seed, **QUICK) for seed in (5, 5, 6)
    )
    assert first.to_dict() == again.to_dict()
    assert first.mix != other.mix


def test_maximise_goes_up_to_a_corner(world):
    """A convex function is largest at a corner; the search climbs to one, if not to the highest."""
    request = Request(world.domains.natural(), 0.0, world.domains.tokens.astype(float))
    worst = propose_search(world.surrogate, request, seed=3, maximise=True)
    corners = world.surrogate.average(np.eye(4))
    assert np.abs(corners - worst.average).min() < 2e-3
    assert worst.average > np.sort(corners)[-3]
    assert worst.average > world.surrogate.average(request.prior.weights[None])[0] + 0.2
    assert worst.objective == pytest.approx(worst.average)


def test_maximise_respects_caps(world, make_request):
    request = make_request(4, kl=0.0, slack=1.3, seed=4)
    worst = propose_search(world.surrogate, request, seed=5, maximise=True, **QUICK)
    best = propose_exact(world.surrogate, request)
    assert (worst.mix.weights <= request.caps + 1e-12).all()
    assert worst.average > best.average


def test_works_for_families_no_solver_knows(world, make_request):
    swarm = world.swarm(60, seed=6)
    surrogate = fit_surrogate(swarm, family="gaussian_process")
    request = make_request(4, kl=0.0, slack=2.0, seed=7)
    found = propose_search(surrogate, request, seed=8, rounds=4, candidates=500)
    assert found.status == "searched"
    # Judged by the true law it is better than the prior's neighbour under the caps.
    optimum = propose_exact(world.surrogate, request).average
    truth = world.bpb(found.mix.weights[None]).mean()
    assert truth < optimum + 0.05
    assert (found.mix.weights <= request.caps + 1e-12).all()


def test_a_prior_with_zeros_is_searched_around(world):
    prior = Mix(world.domains.names, [1.0, 0.0, 0.0, 0.0])
    request = Request(prior, 0.0, world.domains.tokens.astype(float))
    found = propose_search(world.surrogate, request, seed=9, **QUICK)
    optimum = propose_exact(world.surrogate, request)
    assert found.objective <= optimum.objective + 0.02
