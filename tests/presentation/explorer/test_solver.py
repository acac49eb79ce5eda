"""The page's solver, run by Node, against the library's exact proposer and against CVXPY."""

import cvxpy as cp
import numpy as np
import pytest

from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.regressors.terms import predict_terms

WEIGHTS, OBJECTIVE = 1e-3, 1e-5


@pytest.mark.parametrize("slack", [None, 1.0000001, 1.2, 4.0])
def test_agrees_with_the_exact_proposer(solve, asked, make_world, make_request, slack):
    surrogate = make_world(20, 15, seed=3).surrogate
    requests = [make_request(20, kl=kl, seed=1, slack=slack) for kl in (0.0, 1e-4, 0.01, 0.05, 1.0)]
    found = solve(surrogate.regressor.terms(), [asked(r, surrogate.weights) for r in requests])
    for request, answer in zip(requests, found, strict=True):
        exact = propose_exact(surrogate, request)
        np.testing.assert_allclose(answer["weights"], exact.mix.weights, atol=WEIGHTS)
        assert answer["objective"] == pytest.approx(exact.objective, abs=OBJECTIVE)
        assert answer["excess"] < 1e-9
        assert sum(answer["weights"]) == pytest.approx(1, abs=1e-9)
        assert (np.array(answer["weights"]) <= request.caps * (1 + 1e-9)).all()
        if slack != 1.0000001:  # where all caps all but bind, which count as active is rounding
            active = {request.domains[j] for j in np.flatnonzero(answer["active"])}
            assert active == set(exact.active_caps)


def test_the_excess_it_reports_is_a_bound(solve, asked, make_world, make_request, second_opinion):
    """Stopped early, the answer is worse than the optimum, and by no more than it says."""
    surrogate, request = make_world(20, 15, seed=3).surrogate, make_request(20, kl=0.01, seed=1)
    exact = propose_exact(surrogate, request)
    early = asked(request, surrogate.weights) | {"tolerance": 0.05}
    (answer,) = solve(surrogate.regressor.terms(), [early])
    above = second_opinion.value(surrogate, request, np.array(answer["weights"])) - exact.objective
    assert 1e-6 < above <= answer["excess"] <= 0.05 * 2


def cvxpy_optimum(terms, shares, request, held):
    """The general form written for CVXPY, which knows nothing of the page's code."""
    p = cp.Variable(len(request.domains), nonneg=True)
    objective = request.kl * cp.sum(cp.rel_entr(p, request.prior.weights)) if request.kl else 0
    for term in terms:
        exponent = term.intercept + term.linear @ p
        if term.curved is not None:
            curve = cp.log(1 + cp.multiply(1 / term.shift, p))
            exponent = exponent - term.curved @ curve
        objective += (shares * term.weight) @ (term.constant + cp.exp(exponent))
    constraints = [cp.sum(p) == 1, *(p[j] == share for j, share in held.items())]
    constraints += [p[j] <= cap for j, cap in enumerate(request.caps) if np.isfinite(cap)]
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert problem.status == cp.OPTIMAL
    return p.value, problem.value


@pytest.mark.parametrize("kl", [0.0, 0.02])
@pytest.mark.parametrize("slack", [None, 2.0])
@pytest.mark.parametrize("held", [{}, {2: 0.1, 5: 0.0}])
def test_curved_members_weighed_by_task(solve, asked, general_law, make_request, kl, slack, held):
    request = make_request(12, kl=kl, seed=4, slack=slack)
    held = {j: min(share, 0.9 * request.caps[j]) for j, share in held.items()}
    shares = np.random.default_rng(0).dirichlet(np.ones(8))
    (answer,) = solve(general_law, [asked(request, shares, held)])
    weights, objective = cvxpy_optimum(general_law, shares, request, held)
    np.testing.assert_allclose(answer["weights"], weights, atol=WEIGHTS)
    assert answer["objective"] == pytest.approx(objective, abs=OBJECTIVE)
    for j, share in held.items():
        assert answer["weights"][j] == share
    predicted = predict_terms(general_law, np.array(answer["weights"])[None])[0] @ shares
    assert answer["objective"] >= predicted - 1e-12


def test_one_free_domain_takes_what_is_left(solve, asked, make_world, make_request):
    surrogate, request = make_world(3, 2, seed=0).surrogate, make_request(3, kl=0.1, seed=0)
    terms, shares = surrogate.regressor.terms(), surrogate.weights
    found = solve(terms, [asked(request, shares, {0: 0.5, 1: 0.2}), asked(request, shares, {1: 1})])
    assert found[0]["weights"] == pytest.approx([0.5, 0.2, 0.3])
    assert found[1]["weights"] == pytest.approx([0, 1, 0])


@pytest.mark.parametrize(
    ("slack", "held", "message"),
    [
        (0.5, {}, "caps k·N/R sum to 50.0 %, less than a whole mix"),
        (None, {0: 0.8, 1: 0.3}, "held weights sum to 110 %, more than a whole mix"),
        (None, {0: 0.8, 1: 0.1, 2: 0.05}, "caps and held weights sum to 95.0 %"),
    ],
)
def test_what_is_impossible_is_said(solve, asked, make_world, slack, held, message):
    surrogate = make_world(3, 2, seed=0).surrogate
    tokens = np.full(3, 1e9)
    requested = None if slack is None else 1e10
    # Checked by the page alone: the library refuses such caps when the request is made.
    request = Request(Mix(("d0", "d1", "d2"), np.full(3, 1 / 3)), 0.1, tokens, np.inf, requested)
    question = asked(request, surrogate.weights, held)
    if slack is not None:
        question["caps"] = [slack / 3] * 3
    (answer,) = solve(surrogate.regressor.terms(), [question])
    assert message in answer["problem"]
    assert answer["weights"] == []


def test_a_weight_held_above_its_cap_is_named(solve, asked, make_world, make_request):
    surrogate, request = make_world(3, 2, seed=0).surrogate, make_request(3, kl=0, seed=0, slack=2)
    (answer,) = solve(
        surrogate.regressor.terms(),
        [asked(request, surrogate.weights, {1: 1.1 * float(request.caps[1])})],
    )
    assert answer["problem"].startswith("d1 is held at")
    assert "above its cap" in answer["problem"]
