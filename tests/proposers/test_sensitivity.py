import numpy as np
import pytest

from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.sensitivity import DEFAULT_WEIGHTS, kl_sweep


@pytest.mark.parametrize("capped", [False, True])
def test_more_kl_is_nearer_the_prior_and_predicts_more_bpb(make_world, capped):
    world = make_world(6, 8, seed=0)
    limits = {"repetition": 2.0, "requested": float(world.domains.tokens.sum())} if capped else {}
    request = Request.for_domains(world.domains, **limits)
    points = kl_sweep(world.surrogate, request, propose_exact)
    assert tuple(point.kl for point in points) == DEFAULT_WEIGHTS
    divergence = [
        (w * np.log(np.maximum(w, 1e-300) / request.prior.weights)).sum()
        for w in (point.proposal.mix.weights for point in points)
    ]
    averages = [point.proposal.average for point in points]
    # KL(p‖p₀) falls and f̂ rises in λ for any convex f̂: exchange argument, no tolerance needed
    # beyond the solver's.
    assert (np.diff(divergence) <= 1e-7).all()
    assert (np.diff(averages) >= -1e-7).all()
    assert points[0].distance > points[-1].distance
    for point in points:
        by_hand = 0.5 * np.abs(point.proposal.mix.weights - request.prior.weights).sum()
        assert point.distance == pytest.approx(by_hand)
        assert point.proposal.solver["kl"] == point.kl
        assert (point.proposal.mix.weights <= request.caps + 1e-12).all()


def test_the_weights_asked_for(make_world):
    world = make_world(3, 4, seed=1)
    request = Request.for_domains(world.domains)
    points = kl_sweep(world.surrogate, request, propose_exact, (0.3, 100.0))
    assert [point.kl for point in points] == [0.3, 100.0]
    assert points[1].distance < 0.01
