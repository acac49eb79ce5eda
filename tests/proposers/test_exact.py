import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.search import propose_search
from olmix.regressors.surrogate import fit_surrogate

FAMILIES = ("log_linear", "diminishing", "bimix", "autoscale")
TOLERANCE = 1e-7


def random_law(fitted, family, domains, tasks, seed):
    """Parameters such as fits give: terms of a few BPB, some exponents zero, some large."""
    rng = np.random.default_rng(seed)
    if family == "log_linear":
        coef = rng.normal(-0.3, 1.5, (tasks, domains))
        return fitted(family, coef_=coef, constant_=rng.uniform(0, 1, tasks))
    if family == "diminishing":
        curved = rng.exponential(0.2, (tasks, domains))
        curved[rng.random((tasks, domains)) < 0.3] = 0.0
        return fitted(
            family, constant_=rng.uniform(0, 1, tasks), intercept_=rng.normal(0.3, 0.3, tasks),
            linear_=rng.normal(0, 0.5, (tasks, domains)), curved_=curved,
            shift_=10.0 ** rng.uniform(-5, -1, domains), onset_=1.0, ease_=1.0,
            ridge_=np.zeros(tasks), error_=np.zeros(tasks),
        )  # fmt: skip
    if family == "bimix":
        exponent = np.minimum(rng.exponential(0.3, (tasks, domains)), 2.0)
        exponent[rng.random((tasks, domains)) < 0.2] = 0.0
        scale = np.minimum(np.exp(rng.normal(-4, 2, (tasks, domains))), 3 * 3e-3**exponent)
        return fitted(family, scale_=scale, exponent_=exponent)
    share = rng.uniform(1e-4, 1, (tasks, domains))
    share[rng.random((tasks, domains)) < 0.2] = 1e-4
    exponent = np.clip(rng.normal(0.1, 0.1, (tasks, domains)), 0, 2)
    return fitted(family, share_=share, exponent_=exponent, constant_=rng.uniform(0, 1, tasks))


def starts(request, answer, seed):
    """The answer itself, the prior, and random corners of the feasible set."""
    rng = np.random.default_rng(seed)
    caps = np.minimum(request.caps, 1.0)
    points = [answer]
    for _ in range(3):
        filled, left = np.zeros(len(caps)), 1.0
        for j in rng.permutation(len(caps)):
            filled[j] = min(caps[j], left)
            left -= filled[j]
        points.append(0.5 * filled + 0.5 * answer)
    return points


@pytest.mark.parametrize("kl", [0.0, 0.01, 0.05, 1.0])
@pytest.mark.parametrize("slack", [None, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_optimal_against_independent_solvers(
    fitted, make_request, second_opinion, family, slack, kl
):
    for seed, (domains, tasks) in enumerate([(2, 3), (5, 3), (9, 12)]):
        surrogate = random_law(fitted, family, domains, tasks, seed)
        request = make_request(domains, kl=kl, slack=slack, seed=seed + 10)
        proposal = propose_exact(surrogate, request)
        weights = proposal.mix.weights
        assert proposal.status == "optimal"
        assert (weights <= request.caps + 1e-15).all()
        value = second_opinion.value(surrogate, request, weights)
        assert proposal.objective == pytest.approx(value, abs=1e-12)
        other = second_opinion.best_of_slsqp(surrogate, request, starts(request, weights, seed))
        assert value <= other + TOLERANCE
        # The certificate needs no solver at all; without KL it is an upper bound only.
        gap = second_opinion.certified_gap(surrogate, request, weights)
        assert gap <= (TOLERANCE if kl else 3e-5) * max(1.0, value)
        assert gap >= -1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_64_domains_52_tasks(fitted, make_request, second_opinion, family):
    surrogate = random_law(fitted, family, 64, 52, seed=1)
    request = make_request(64, kl=0.05, slack=2.0, seed=2)
    proposal = propose_exact(surrogate, request)
    assert second_opinion.certified_gap(surrogate, request, proposal.mix.weights) <= TOLERANCE
    assert (proposal.mix.weights <= request.caps + 1e-15).all()
    assert proposal.active_caps


def test_64_domains_52_tasks_without_kl(fitted, make_request, second_opinion):
    surrogate = random_law(fitted, "log_linear", 64, 52, seed=3)
    request = make_request(64, kl=0.0, slack=2.0, seed=4)
    weights = propose_exact(surrogate, request).mix.weights
    other = second_opinion.best_of_slsqp(surrogate, request, starts(request, weights, 5))
    assert second_opinion.value(surrogate, request, weights) <= other + TOLERANCE


def test_a_capped_steep_domain_does_not_hide_the_mild_ones(fitted, second_opinion):
    """What is left over by the cap is divided by laws a million times flatter."""
    surrogate = fitted(
        "bimix", scale_=[[1.0, 0.05, 0.05, 0.05]], exponent_=[[2.0, 0.02, 0.01, 0.001]]
    )
    tokens = np.array([0.1, 1.0, 1.0, 1.0]) * 1e12
    request = Request(Mix(surrogate.domains, [0.25] * 4), 0.0, tokens, 1.0, 1e12)
    weights = propose_exact(surrogate, request).mix.weights
    assert weights[0] == pytest.approx(0.1)
    assert weights[1] > 1.9 * weights[2] > 5 * weights[3]
    assert second_opinion.certified_gap(surrogate, request, weights) < 1e-6


def test_closed_form_with_kl(fitted, make_request):
    """A flat law leaves the prior; one with equal pull by j gives a softmax of it."""
    request = make_request(4, kl=0.1, seed=0)
    flat = fitted("log_linear", coef_=np.zeros((2, 4)), constant_=[0.1, 0.2])
    np.testing.assert_allclose(
        propose_exact(flat, request).mix.weights, request.prior.weights, atol=1e-5
    )
    # f̂(p) ≈ 1 + aᵀp for tiny a: p ∝ p₀·exp(−a/λ).
    slope = np.array([3e-6, -2e-6, 1e-6, 0.0])
    linear = fitted("log_linear", coef_=slope[None], constant_=[0.0])
    tiny = Request(request.prior, 1e-6, request.tokens)
    expected = request.prior.weights * np.exp(-slope / 1e-6)
    expected /= expected.sum()
    np.testing.assert_allclose(propose_exact(linear, tiny).mix.weights, expected, atol=2e-3)


def test_the_prior_is_approached_as_kl_grows(fitted, make_request):
    surrogate = random_law(fitted, "log_linear", 8, 10, seed=6)
    distances = []
    for kl in (0.01, 0.1, 1.0, 10.0, 1000.0):
        request = make_request(8, kl=kl, seed=7)
        distances.append(propose_exact(surrogate, request).mix.total_variation(request.prior))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-3
    assert distances[0] > 0.2


@pytest.mark.parametrize("family", FAMILIES)
def test_never_worse_than_search(fitted, make_request, family):
    for seed in range(4):
        surrogate = random_law(fitted, family, 5, 4, seed=seed)
        request = make_request(5, kl=0.02 * (seed % 2), slack=[None, 1.5][seed // 2], seed=seed)
        exact = propose_exact(surrogate, request)
        searched = propose_search(surrogate, request, seed=seed, rounds=6, candidates=2000)
        assert exact.objective <= searched.objective + 1e-9


def test_reports_what_it_predicts(fitted, make_request):
    surrogate = random_law(fitted, "log_linear", 3, 4, seed=8)
    request = make_request(3, kl=0.05, slack=1.2, seed=9)
    proposal = propose_exact(surrogate, request)
    expected = surrogate.predict(proposal.mix.weights[None])[0]
    assert list(proposal.predicted) == list(surrogate.outputs)
    np.testing.assert_allclose(list(proposal.predicted.values()), expected)
    assert proposal.average == pytest.approx(expected.mean())
    assert proposal.repetition == pytest.approx(
        dict(zip(request.domains, proposal.mix.weights * 1e12 / request.tokens, strict=True))
    )
    limit = request.repetition * (1 - 1e-5)
    at_limit = [name for name, times in proposal.repetition.items() if times > limit]
    assert proposal.active_caps == tuple(at_limit) != ()


def test_a_prior_with_zeros_needs_no_kl(fitted, second_opinion):
    surrogate = random_law(fitted, "log_linear", 3, 4, seed=1)
    request = Request(Mix(surrogate.domains, [1.0, 0.0, 0.0]), 0.0, np.ones(3) * 1e9)
    proposal = propose_exact(surrogate, request)
    assert proposal.objective == pytest.approx(proposal.average)


def test_one_domain(fitted):
    surrogate = fitted("log_linear", coef_=[[0.3]], constant_=[1.0])
    proposal = propose_exact(surrogate, Request(Mix(("d0",), [1.0]), 0.05, np.array([1e9])))
    assert proposal.mix.weights.tolist() == [1.0]


def test_another_order_of_domains_is_refused(fitted, make_request):
    surrogate = random_law(fitted, "log_linear", 3, 2, seed=0)
    request = make_request(3, kl=0.1, seed=0, names=("d1", "d0", "d2"))
    for propose in (propose_exact, lambda s, r: propose_search(s, r, seed=0)):
        with pytest.raises(OlmixError, match="in another order"):
            propose(surrogate, request)


@pytest.mark.parametrize("family", ["gaussian_process", "search", "lightgbm"])
def test_families_that_are_not_convex_are_refused(make_world, make_request, family):
    settings = {"iterations": 5} if family == "lightgbm" else {}
    swarm = make_world(3, 2, seed=0).swarm(25, seed=1)
    surrogate = fit_surrogate(swarm, family=family, settings=settings)
    with pytest.raises(OlmixError, match=rf"needs a convex family.*'{family}'.*search proposer"):
        propose_exact(surrogate, make_request(3, kl=0.05, seed=0))
