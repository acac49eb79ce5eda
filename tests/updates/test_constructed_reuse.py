"""Reuse of ratios made on purpose, on exact laws where both theorems can be checked."""

from dataclasses import replace

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.updates.collapse import Collapse
from olmix.updates.constructed_reuse import (
    collapsed_model,
    reuse_on_model,
    weak_ratios,
)
from olmix.updates.operators import full_reuse
from olmix.updates.strategies import INTERMEDIATE_REUSE
from olmix.updates.theory import gap_report

FIXED = ("d0", "d1", "d2", "d3")


def setting(make_world, seed, slack=None):
    """A world of seven domains, three of them added, with caps that leave some room or none."""
    world = make_world(7, 10, seed=seed)
    tokens = float(world.domains.tokens.sum())
    limits = {"kl": 0.0}
    if slack is not None:
        limits |= {"repetition": slack, "requested": tokens}
    return world, limits, Request.for_domains(world.domains, **limits)


def collapse_of(world, ratios):
    split = full_reuse(world.domains.subset(FIXED), world.domains)
    return Collapse(world.domains, split, ratios)


@pytest.mark.parametrize("slack", [None, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_gaps_of_optimal_intermediate_and_weak_ratios(make_world, seed, slack):
    world, limits, request = setting(make_world, seed, slack)
    optimum = propose_exact(world.surrogate, request).mix
    # A solver's tolerance is what is left of 0; then q*_fix means nothing.
    if sum(optimum[name] for name in FIXED) < 1e-4:
        optimum = replace(optimum, weights=0.9 * optimum.weights + 0.1 / 7)
    weak = weak_ratios(world.surrogate, request, FIXED)
    best = optimum.restricted(FIXED)
    gaps, distances = [], []
    for ratios in (best, INTERMEDIATE_REUSE.ratios(weak, best), weak):
        collapse = collapse_of(world, ratios)
        reuse = reuse_on_model(world.surrogate, collapse, collapse.request(**limits)).mix
        assert (reuse.weights <= request.caps + 1e-9).all()
        np.testing.assert_allclose(reuse.restricted(FIXED).weights, ratios.weights, atol=1e-9)
        report = gap_report(world.surrogate, FIXED, ratios, optimum, reuse)
        assert report.performance_gap <= report.performance_gap_bound + 1e-7
        gaps.append(report.performance_gap)
        distances.append(report.reuse_gap)
    assert gaps[0] <= 1e-7, "optimal ratios give back the optimum"
    assert distances[0] == pytest.approx(0, abs=1e-12)
    assert distances[1] == pytest.approx(distances[2] / 2)
    # F is convex along the way from the optimal ratios to the weak ones, and least at its start.
    assert gaps[0] - 1e-7 <= gaps[1] <= gaps[2] + 1e-7


def test_a_collapsed_model_predicts_what_the_model_does(make_world):
    world, _, request = setting(make_world, 1)
    collapse = collapse_of(world, weak_ratios(world.surrogate, request, FIXED))
    collapsed = collapsed_model(world.surrogate, collapse)
    mixes = np.random.default_rng(0).dirichlet(np.ones(4), size=20)
    np.testing.assert_allclose(
        collapsed.predict(mixes), world.bpb(mixes @ collapse.expansion), rtol=1e-12
    )
    assert collapsed.domains == collapse.names


def test_weak_ratios_where_the_worst_mix_leaves_nothing_to_reuse(make_world, world_of):
    world = make_world(7, 10, seed=0)
    coef = world.coef.copy()
    coef[:, 5] = 9.0  # an added domain is worst by far
    coef[:, 2] += 5.0
    world = world_of(world.domains, coef, world.constant)
    request = Request.for_domains(world.domains, kl=0.0)
    weak = weak_ratios(world.surrogate, request, FIXED)
    assert weak.to_dict() == {"d0": 0.0, "d1": 0.0, "d2": 1.0, "d3": 0.0}


def test_only_a_log_linear_model_can_be_collapsed(make_world, fitted):
    world, _, request = setting(make_world, 1)
    collapse = collapse_of(world, weak_ratios(world.surrogate, request, FIXED))
    bimix = fitted("bimix", scale_=np.ones((2, 7)), exponent_=np.ones((2, 7)))
    with pytest.raises(OlmixError, match="only a log-linear model can be collapsed"):
        collapsed_model(bimix, collapse)
