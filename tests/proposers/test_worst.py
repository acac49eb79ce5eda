"""The worst mix against every vertex of the capped simplex, and against the search."""

from itertools import permutations

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.proposers.proposal import Request
from olmix.proposers.search import propose_search
from olmix.proposers.worst import propose_worst


def every_vertex(caps: np.ndarray) -> np.ndarray:
    """Domains filled to their caps in every order."""
    vertices = []
    for order in permutations(range(len(caps))):
        mix, left = np.zeros(len(caps)), 1.0
        for domain in order:
            mix[domain] = min(caps[domain], left)
            left -= mix[domain]
        vertices.append(mix)
    return np.array(vertices)


@pytest.mark.parametrize("slack", [None, 1.05, 1.5, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_vertex_is_worse(make_world, make_request, seed, slack):
    world = make_world(6, 8, seed=seed, spread=1.5)
    request = make_request(6, kl=0.0, slack=slack, seed=seed)
    found = propose_worst(world.surrogate, request)
    worst = world.bpb(every_vertex(np.minimum(request.caps, 1.0))).mean(1).max()
    assert found.average == pytest.approx(worst, rel=1e-12)
    assert (found.mix.weights <= request.caps + 1e-12).all()
    assert found.mix.weights.sum() == pytest.approx(1)


def test_in_many_dimensions_it_is_worse_than_what_a_search_finds(make_world):
    world = make_world(24, 30, seed=7)
    tokens = world.domains.tokens.astype(float)
    request = Request(world.domains.natural(), 0.0, tokens, 4.0, 2 * tokens.sum())
    found = propose_worst(world.surrogate, request)
    searched = propose_search(
        world.surrogate, request, seed=0, rounds=6, candidates=2000, maximise=True
    )
    assert found.average > searched.average + 0.02
    # Nothing in between: a convex function is largest at a vertex.
    caps = np.minimum(request.caps, 1.0)
    between = (found.mix.weights > 1e-12) & (found.mix.weights < caps - 1e-12)
    assert between.sum() <= 1


def test_what_it_cannot_do_is_refused(make_world, fitted):
    world = make_world(3, 4, seed=0)
    tokens = np.ones(3)
    with pytest.raises(OlmixError, match="takes no KL term, but its weight is"):
        propose_worst(world.surrogate, Request(world.domains.natural(), 0.05, tokens))
    bimix = fitted("bimix", scale_=np.ones((2, 3)), exponent_=np.ones((2, 3)))
    with pytest.raises(OlmixError, match="needs a log-linear model, got 'bimix'"):
        propose_worst(bimix, Request(world.domains.natural(), 0.0, tokens))
    other = make_world(4, 4, seed=0)
    with pytest.raises(OlmixError, match="proposal over 4 domains"):
        propose_worst(world.surrogate, Request(other.domains.natural(), 0.0, np.ones(4)))
