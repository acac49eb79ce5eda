import numpy as np
import pytest

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.study.proposals import olmix_base
from olmix.tables import SwarmTable
from olmix.updates.collapse import Collapse
from olmix.updates.operators import (
    Add,
    Partition,
    Remove,
    ReuseSplit,
    Revise,
    Update,
    full_reuse,
    partial_reuse,
)
from olmix.updates.reuse import carry_swarm, keep_ratios, propose_with_reuse, recompute

BASE = olmix_base()

BEFORE = DomainSet.from_token_counts({"a": 1000, "b": 1000, "c": 2000})
EXISTING = Mix(("a", "b", "c"), [0.25, 0.25, 0.5])


def collapse_for(update, existing=EXISTING, before=BEFORE):
    after = update.apply(before)
    return Collapse(after, full_reuse(before, after), existing)


def test_add_is_the_papers_example():
    collapse = collapse_for(Add((Domain.named("new", 500),)))
    assert collapse.names == ("existing", "new")
    q = collapse.expand(Mix(collapse.names, [0.4, 0.6]))
    assert q.names == ("a", "b", "c", "new")
    np.testing.assert_allclose(q.weights, [0.1, 0.1, 0.2, 0.6], atol=1e-15)


def test_remove_is_the_papers_example_and_needs_no_swarm():
    collapse = collapse_for(Remove(("a",)))
    proposal = propose_with_reuse(None, collapse, collapse.request(), BASE)
    assert proposal.mix.names == ("b", "c")
    np.testing.assert_allclose(proposal.mix.weights, [1 / 3, 2 / 3], atol=1e-15)
    assert proposal.status == "reused"
    assert proposal.objective is None
    assert proposal.predicted == {}


def test_partition_is_the_papers_example():
    collapse = collapse_for(Partition("a", (Domain.named("a1", 400), Domain.named("a2", 600))))
    assert collapse.names == ("existing", "a1", "a2")
    q = collapse.expand(Mix(collapse.names, [0.6, 0.1, 0.3]))
    # The paper rounds its ratios to 0.33 and 0.67.
    assert q.to_dict() == pytest.approx({"b": 0.198, "c": 0.402, "a1": 0.1, "a2": 0.3}, abs=3e-3)
    assert q.to_dict() == pytest.approx({"b": 0.2, "c": 0.4, "a1": 0.1, "a2": 0.3}, abs=1e-12)


def test_revise_is_the_papers_example():
    collapse = collapse_for(Revise("a", tokens=900))
    assert collapse.names == ("existing", "a")
    q = collapse.expand(Mix(collapse.names, [0.4, 0.6]))
    assert q.to_dict() == pytest.approx({"b": 0.132, "c": 0.268, "a": 0.6}, abs=2e-3)
    assert q.to_dict() == pytest.approx({"b": 0.4 / 3, "c": 0.8 / 3, "a": 0.6}, abs=1e-12)


@pytest.mark.parametrize("recompute_too", [(), ("d0",), ("d0", "d3")])
def test_expanded_proposals_meet_every_domains_cap(make_world, recompute_too):
    checked = 0
    for seed in range(12):
        world = make_world(7, 9, seed=seed)
        after = world.domains
        before = after.subset(after.names[:5])
        rng = np.random.default_rng(seed)
        existing = Mix(before.names, rng.dirichlet(np.ones(5)))
        split = partial_reuse(before, after, recompute=recompute_too)
        collapse = Collapse(after, split, existing)
        try:
            request = collapse.request(kl=0.01, repetition=2.0, requested=float(after.tokens.sum()))
        except OlmixError:
            continue  # these ratios cannot be kept under these caps
        checked += 1
        collapsed = world.collapsed(collapse.expansion, collapse.names)
        proposal = collapse.expand_proposal(propose_exact(collapsed, request), request)
        caps = after.caps(2.0, float(after.tokens.sum()))
        assert (proposal.mix.weights <= caps + 1e-12).all()
        assert max(proposal.repetition.values()) <= 2.0 + 1e-9
        for name in proposal.active_caps:
            assert proposal.repetition[name] == pytest.approx(2.0, rel=1e-5)
    assert checked >= 4


@pytest.mark.parametrize("requested", [None, 1.0])
@pytest.mark.parametrize("groups", [1, 2])
def test_reuse_with_the_optimal_ratios_is_full_recomputation(make_world, requested, groups):
    """Lemma conditional_standard_equivalence, on exact log-linear worlds."""
    checked = 0
    for seed in range(20):
        world = make_world(7, 10, seed=seed)
        after = world.domains
        limits = {"kl": 0.0}
        if requested:
            limits |= {"repetition": 2.0, "requested": float(after.tokens.sum())}
        optimum = propose_exact(world.surrogate, Request.for_domains(after, **limits))
        parts = {1: {"one": ("d0", "d1", "d2", "d3")}, 2: {"x": ("d0", "d2"), "y": ("d1", "d3")}}
        split = ReuseSplit(parts[groups], ("d4", "d5", "d6"))
        totals = [sum(optimum.mix[name] for name in names) for names in split.groups.values()]
        if min(totals) < 1e-6:
            continue  # the optimum leaves a group out, so it has no ratios
        checked += 1
        collapse = Collapse(after, split, optimum.mix)
        request = collapse.request(**limits)
        collapsed = world.collapsed(collapse.expansion, collapse.names)
        reuse = collapse.expand_proposal(propose_exact(collapsed, request), request)
        value = world.bpb(reuse.mix.weights[None]).mean()
        assert value == pytest.approx(optimum.average, abs=1e-6)
        assert reuse.average == pytest.approx(value, abs=1e-9)
    assert checked >= 5


def test_reuse_fits_a_swarm_over_the_collapsed_domains(make_world):
    """Algorithm 2 from runs: noise-free collapsed runs give the law's own answer."""
    world = make_world(6, 8, seed=3)
    after = world.domains
    before = after.subset(after.names[:4])
    existing = Mix(before.names, [0.4, 0.3, 0.2, 0.1])
    collapse = Collapse(after, full_reuse(before, after), existing)
    rng = np.random.default_rng(4)
    r = rng.dirichlet(np.ones(3), size=40)
    metrics = world.bpb(r @ collapse.expansion)
    tasks = tuple(f"task{i}" for i in range(8))
    swarm = SwarmTable(tuple(map(str, range(40))), collapse.names, r, tasks, metrics)
    request = collapse.request(kl=0.05)
    proposal = propose_with_reuse(swarm, collapse, request, BASE)
    exact = collapse.expand_proposal(
        propose_exact(world.collapsed(collapse.expansion, collapse.names), request), request
    )
    np.testing.assert_allclose(proposal.mix.weights, exact.mix.weights, atol=5e-3)
    assert proposal.made_from["frozen"] == {"existing": list(before.names)}
    assert proposal.made_from["existing_mix"] == existing.to_dict()
    assert set(proposal.made_from["collapsed_mix"]) == {"existing", "d4", "d5"}
    ratios = proposal.mix.restricted(before.names).weights
    np.testing.assert_allclose(ratios, existing.weights, atol=1e-12)


def test_two_domains_are_recomputed_by_search():
    collapse = collapse_for(Revise("a", tokens=900))
    swarm = SwarmTable(
        ("r0", "r1", "r2"),
        collapse.names,
        np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]),
        ("t",),
        np.array([[1.2], [1.0], [0.9]]),
    )
    proposal = propose_with_reuse(swarm, collapse, collapse.request(), BASE)
    assert proposal.solver["name"] == "best_run"
    assert proposal.mix["a"] == pytest.approx(0.7)
    assert proposal.mix["c"] == pytest.approx(0.3 * 2 / 3)
    # With caps the best run may not be allowed: a at most 0.45.
    capped = collapse.request(repetition=1, requested=2000)
    assert propose_with_reuse(swarm, collapse, capped, BASE).mix["a"] == pytest.approx(0.4)


def test_three_domains_are_recomputed_exactly(make_world):
    world = make_world(3, 5, seed=5)
    swarm = world.swarm(30, seed=6)
    proposal = recompute(swarm, Request.for_domains(world.domains), BASE)
    assert proposal.solver["name"] == "exact"
    assert proposal.solver["family"] == "log_linear"


def test_without_a_swarm_something_to_recompute_is_an_error():
    collapse = collapse_for(Revise("a"))
    with pytest.raises(OlmixError, match="2 weights to recompute, but no swarm"):
        propose_with_reuse(None, collapse, collapse.request(), BASE)


def test_frozen_ratios_that_break_the_caps_are_refused():
    """After a removal nothing can be recomputed: the caps decide whether reuse is possible."""
    collapse = collapse_for(Remove(("a",)))
    # c holds 2000 tokens and would get two thirds of 4000.
    with pytest.raises(OlmixError, match=r"sum to 0\.75"):
        collapse.request(repetition=1, requested=4000)


def test_a_removal_that_lifts_a_domain_over_its_cap_is_cut():
    collapse = collapse_for(Remove(("a",)), existing=Mix(("a", "b", "c"), [0.25, 0.15, 0.6]))
    free = keep_ratios(collapse)
    assert free.status == "reused"
    np.testing.assert_allclose(free.mix.weights, [0.2, 0.8], atol=1e-15)
    assert keep_ratios(collapse, repetition=1, requested=2500).status == "reused"
    # c holds 2000 tokens and would get four fifths of 2800.
    cut = keep_ratios(collapse, repetition=1, requested=2800)
    assert cut.status == "reused, cut to the caps"
    assert cut.mix["c"] == pytest.approx(2000 / 2800)
    assert cut.mix["b"] == pytest.approx(800 / 2800)
    assert cut.active_caps == ("c",)
    assert cut.made_from["frozen"] == {"existing": list(cut.mix.names)}


def test_of_two_domains_the_best_run_is_cut_where_no_run_meets_the_caps():
    collapse = collapse_for(Revise("a", tokens=900))
    mixes = np.array([[0.9, 0.1], [0.95, 0.05]])
    swarm = SwarmTable(("r0", "r1"), collapse.names, mixes, ("t",), np.array([[1.2], [1.0]]))
    request = collapse.request(repetition=1, requested=3500)
    limit = float(request.caps[0])
    assert limit < 0.9
    proposal = propose_with_reuse(swarm, collapse, request, BASE)
    assert proposal.status == "measured, cut to the caps"
    assert proposal.mix["a"] == pytest.approx(1 - limit)
    # One run that meets them is enough to need no cutting.
    allowed = SwarmTable(
        ("r0", "r1"), collapse.names, np.array([[0.9, 0.1], [limit - 0.01, 1.01 - limit]]),
        ("t",), np.array([[1.0], [1.2]]),
    )  # fmt: skip
    proposal = propose_with_reuse(allowed, collapse, request, BASE)
    assert proposal.status == "measured"
    assert proposal.solver["run"] == "r1"


SWARM = SwarmTable(
    ("r0", "r1", "r2"),
    ("a", "b", "c"),
    np.array([[0.5, 0.5, 0.0], [0.0, 0.4, 0.6], [0.2, 0.3, 0.5]]),
    ("t",),
    np.array([[1.0], [2.0], [3.0]]),
)


def test_carry_over_an_addition():
    carried = carry_swarm(SWARM, Add((Domain.named("new", 10),)), BEFORE)
    assert carried.domains == ("a", "b", "c", "new")
    np.testing.assert_array_equal(carried.mixes[:, :3], SWARM.mixes)
    np.testing.assert_array_equal(carried.mixes[:, 3], 0.0)
    assert carried.runs == SWARM.runs
    assert carried.notes == ()


def test_carry_over_a_removal():
    carried = carry_swarm(SWARM, Remove(("a",)), BEFORE)
    assert carried.domains == ("b", "c")
    assert carried.runs == ("r1",)
    np.testing.assert_allclose(carried.mixes, [[0.4, 0.6]])
    np.testing.assert_array_equal(carried.metrics, [[2.0]])
    assert "2 runs not reusable" in carried.notes[0]


def test_carry_over_a_partition():
    update = Partition("a", (Domain.named("a1", 250), Domain.named("a2", 750)))
    carried = carry_swarm(SWARM, update, BEFORE)
    assert carried.domains == ("a1", "a2", "b", "c")
    np.testing.assert_allclose(carried.mixes[0], [0.125, 0.375, 0.5, 0.0])
    np.testing.assert_allclose(carried.mixes[1], [0.0, 0.0, 0.4, 0.6])


def test_carry_over_a_revision():
    carried = carry_swarm(SWARM, Revise("c"), BEFORE)
    assert carried.runs == ("r0",)
    assert carried.domains == ("a", "b", "c")


def test_carry_over_several_at_once_and_nothing_left():
    update = Update((Add((Domain.named("new", 10),)), Remove(("b",))))
    carried = carry_swarm(SWARM, update, BEFORE)
    assert carried.domains == ("a", "c", "new")
    assert len(carried) == 0
    assert carried.mixes.shape == (0, 3)
