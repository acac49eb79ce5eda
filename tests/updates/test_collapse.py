import numpy as np
import pytest

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.collapse import Collapse
from olmix.updates.operators import Add, ReuseSplit, full_reuse

BEFORE = DomainSet.from_token_counts({"a": 1000, "b": 1000, "c": 2000})
EXISTING = Mix(("a", "b", "c"), [0.25, 0.25, 0.5])


# Six domains; a group's members stand in another order than the domain set, and one has no weight.
SIX = DomainSet.from_token_counts({f"d{j}": 1000 * (j + 1) for j in range(6)})
SIX_MIX = Mix(tuple(f"d{j}" for j in (5, 3, 1, 0, 2, 4)), [0.1, 0.3, 0.0, 0.2, 0.25, 0.15])
GROUPED = ReuseSplit({"odd": ("d5", "d1", "d3"), "even": ("d2", "d0")}, ("d4",))


def test_groups_in_any_order_and_a_member_without_weight():
    collapse = Collapse(SIX, GROUPED, SIX_MIX)
    q = collapse.expand(Mix(("odd", "even", "d4"), [0.5, 0.3, 0.2]))
    # d1:d3:d5 are 0 : 0.3 : 0.1, d0:d2 are 0.2 : 0.25.
    expected = [0.3 * 0.2 / 0.45, 0.0, 0.3 * 0.25 / 0.45, 0.375, 0.2, 0.125]
    np.testing.assert_allclose(q.weights, expected, atol=1e-15)
    # The member without weight does not limit the group.
    caps = collapse.request(repetition=2, requested=10_000).caps
    by_hand = [min(4000 / 0.75, 6000 / 0.25), min(1000 / (0.2 / 0.45), 3000 / (0.25 / 0.45)), 5000]
    np.testing.assert_allclose(caps, 2 * np.array(by_hand) / 10_000)


def test_collapse_then_expand_is_the_identity():
    collapse = Collapse(SIX, GROUPED, SIX_MIX)
    rng = np.random.default_rng(0)
    for _ in range(50):
        r = Mix(collapse.names, rng.dirichlet(np.ones(3)))
        q = collapse.expand(r)
        np.testing.assert_allclose(collapse.collapse(q).weights, r.weights, atol=1e-15)
        again = collapse.expand(collapse.collapse(q))
        np.testing.assert_allclose(again.weights, q.weights, atol=1e-15)
    # Rows of the expansion are mixes.
    np.testing.assert_allclose(collapse.expansion.sum(1), 1.0)
    np.testing.assert_allclose(collapse.membership.sum(0), 1)


def test_the_collapsed_prior_is_the_natural_one_summed():
    request = Collapse(SIX, GROUPED, SIX_MIX).request(kl=0.05)
    total = sum(1000 * (j + 1) for j in range(6))
    expected = {"odd": 12_000 / total, "even": 4_000 / total, "d4": 5_000 / total}
    assert request.prior.to_dict() == pytest.approx(expected)


def test_the_virtual_cap_is_the_scarcest_members():
    """min_j kN_j/(R·p̃_j) of Algorithm 2, with p̃ restricted to the group."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        tokens = rng.integers(10, 1000, size=5)
        domains = DomainSet.from_token_counts({f"d{j}": int(n) for j, n in enumerate(tokens)})
        existing = Mix(domains.names[:4], rng.dirichlet(np.ones(4)))
        split = full_reuse(domains.subset(domains.names[:4]), domains)
        k, requested = 4.0, 0.5 * tokens.sum()
        caps = Collapse(domains, split, existing).request(repetition=k, requested=requested).caps
        by_hand = min(k * tokens[j] / (requested * existing.weights[j]) for j in range(4))
        np.testing.assert_allclose(caps, [by_hand, k * tokens[4] / requested])


def test_a_split_over_other_domains_is_refused():
    with pytest.raises(OlmixError, match=r"differ on 1, e\.g\. 'c'"):
        Collapse(BEFORE, ReuseSplit({"existing": ("a",)}, ("b",)), EXISTING)


def test_ratios_that_are_not_there_are_refused():
    after = Add((Domain.named("new", 10),)).apply(BEFORE)
    with pytest.raises(OlmixError, match=r"'new' of the virtual domain 'v'.*not in the existing"):
        Collapse(after, ReuseSplit({"v": ("a", "new")}, ("b", "c")), EXISTING)
    empty = Mix(("a", "b", "c"), [0.0, 0.0, 1.0])
    with pytest.raises(OlmixError, match="no weight, so the ratios among them are undefined"):
        Collapse(BEFORE, ReuseSplit({"v": ("a", "b")}, ("c",)), empty)
