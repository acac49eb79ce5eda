import json

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request, kl_divergence, read_mix, within_caps

DOMAINS = DomainSet.from_token_counts({"web": 600, "code": 300, "wiki": 100})


def random_case(rng, kind):
    """A mix with zeros, and caps: summing to one, tight, loose, or some infinite."""
    m = int(rng.integers(1, 12))
    weights = rng.dirichlet(np.full(m, rng.choice([0.05, 0.3, 1.0, 5.0])))
    weights[rng.random(m) < 0.3] = 0.0
    weights = weights / weights.sum() if weights.sum() > 0 else np.eye(m)[0]
    caps = rng.exponential(1.0, m)
    caps[rng.random(m) < 0.2] = 0.0
    if caps.sum() == 0:
        caps[0] = 1.0
    if kind == "infinite":
        caps[rng.random(m) < 0.5] = np.inf
    slack = {"exactly one": 1.0, "tight": 1.05, "loose": 3.0, "infinite": 1.01}[kind]
    return weights, caps if np.isinf(caps).any() else caps * slack / caps.sum()


@pytest.mark.parametrize("kind", ["exactly one", "tight", "loose", "infinite"])
def test_within_caps_is_a_mix_under_the_caps_with_ratios_kept(kind):
    rng = np.random.default_rng(0)
    for _ in range(500):
        weights, caps = random_case(rng, kind)
        (capped,) = within_caps(weights, caps)
        assert (capped >= 0).all()
        assert (capped <= caps).all()
        assert capped.sum() == pytest.approx(1.0, abs=1e-12)
        # What is above zero and below its cap keeps its ratios, and gained by the same factor.
        free = (capped < np.minimum(caps, 1.0) * (1 - 1e-9)) & (weights > 0)
        if free.sum() > 1:
            factors = capped[free] / weights[free]
            assert factors.max() / factors.min() == pytest.approx(1.0, abs=1e-9)
            assert factors.min() >= 1 - 1e-12
        if (weights <= caps).all():
            np.testing.assert_allclose(capped, weights, atol=1e-15)


def test_within_caps_by_hand():
    # 0.7 is cut to 0.4; the 0.3 go to 0.2 and 0.1 as 2:1.
    np.testing.assert_allclose(
        within_caps(np.array([0.7, 0.2, 0.1]), np.array([0.4, 1, 1])), [[0.4, 0.4, 0.2]]
    )
    # 0.4 then exceeds its cap in turn.
    np.testing.assert_allclose(
        within_caps(np.array([0.7, 0.2, 0.1]), np.array([0.4, 0.25, 1])), [[0.4, 0.25, 0.35]]
    )
    # Only zeros are left to take the rest: by their caps, 0.2 : 0.6.
    np.testing.assert_allclose(
        within_caps(np.array([1.0, 0, 0]), np.array([0.6, 0.2, 0.6])), [[0.6, 0.1, 0.3]]
    )


def test_within_caps_treats_rows_alike():
    rng = np.random.default_rng(1)
    rows, caps = rng.dirichlet(np.full(6, 0.3), size=50), np.array([0.1, 0.2, 0.3, 0.25, 0.1, 0.4])
    together = within_caps(rows, caps)
    for row, capped in zip(rows, together, strict=True):
        np.testing.assert_allclose(capped, within_caps(row, caps)[0], atol=1e-14)


def test_kl_divergence_by_hand():
    prior = np.array([0.5, 0.25, 0.25])
    assert kl_divergence(prior, prior) == 0.0
    assert kl_divergence(np.array([1.0, 0, 0]), prior) == pytest.approx(np.log(2))
    expected = 0.5 * np.log(2) + 0.5 * np.log(2)
    assert kl_divergence(np.array([0.0, 0.5, 0.5]), prior) == pytest.approx(expected)


def test_infeasible_caps_name_the_sum_and_the_largest_domains():
    with pytest.raises(OlmixError, match=r"sum to 0\.5.*web 0\.3.*code 0\.15"):
        Request.for_domains(DOMAINS, repetition=1, requested=2000)


def test_caps_are_repetition_times_tokens_over_requested():
    request = Request.for_domains(DOMAINS, repetition=4, requested=1000)
    np.testing.assert_allclose(request.caps, [2.4, 1.2, 0.4])
    assert np.isinf(Request.for_domains(DOMAINS).caps).all()
    assert np.isinf(Request.for_domains(DOMAINS, requested=1000).caps).all()


def test_a_zero_prior_is_refused_only_where_kl_needs_it():
    prior = Mix(DOMAINS.names, [0.5, 0.5, 0.0])
    with pytest.raises(OlmixError, match="prior: 'wiki' has weight 0"):
        Request.for_domains(DOMAINS, kl=0.05, prior=prior)
    assert Request.for_domains(DOMAINS, kl=0.0, prior=prior).domains == DOMAINS.names


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kl": -0.1}, "KL weight is -0.1"),
        ({"kl": np.nan}, "KL weight is nan"),
        ({"repetition": 0.0, "requested": 10.0}, "repetition factor: 0.0"),
        ({"requested": -5.0}, "requested: -5.0"),
    ],
)
def test_meaningless_requests(settings, message):
    with pytest.raises(OlmixError, match=message):
        Request.for_domains(DOMAINS, **settings)


def test_a_prior_over_other_domains_is_refused():
    with pytest.raises(OlmixError, match=r"'books' has weight 0\.5"):
        Request.for_domains(DOMAINS, prior=Mix(("web", "books"), [0.5, 0.5]))


def test_a_proposal_reports_caps_and_repetition(tmp_path):
    request = Request.for_domains(DOMAINS, repetition=4, requested=1000)
    proposal = Proposal.from_weights(
        np.array([0.35, 0.25, 0.4]), request, status="optimal", solver={"name": "test"}
    )
    assert proposal.active_caps == ("wiki",)
    assert proposal.repetition == pytest.approx(
        {"web": 0.35 / 0.6, "code": 0.25 / 0.3, "wiki": 4.0}
    )
    assert proposal.caps == pytest.approx({"web": 2.4, "code": 1.2, "wiki": 0.4})
    proposal.save(tmp_path / "mix.json")
    assert read_mix(tmp_path / "mix.json") == proposal.mix
    record = json.loads((tmp_path / "mix.json").read_text())
    assert {"domains", "weights", "caps", "active_caps", "status", "predicted"} <= set(record)


def test_uncapped_is_null_in_json(tmp_path):
    proposal = Proposal.from_weights(
        DOMAINS.natural().weights, Request.for_domains(DOMAINS), status="x", solver={}
    )
    proposal.save(tmp_path / "mix.json")
    record = json.loads((tmp_path / "mix.json").read_text())
    assert record["caps"] == {"web": None, "code": None, "wiki": None}
    assert record["repetition"] is None
    assert record["active_caps"] == []


def test_read_mix_reads_a_plain_file_and_refuses_others(tmp_path):
    path = tmp_path / "mix.json"
    path.write_text('{"web": 0.25, "code": 0.75}')
    assert read_mix(path) == Mix(("web", "code"), [0.25, 0.75])
    path.write_text('{"web": 0.25, "code": 0.5}')
    with pytest.raises(OlmixError, match=r"mix\.json: mix: .*sum to 0\.75"):
        read_mix(path)
