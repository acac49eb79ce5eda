import numpy as np
import pytest

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.tables import SwarmTable
from olmix.updates.auto_reuse import choose_reuse, join_swarms, probe_size
from olmix.updates.collapse import Collapse
from olmix.updates.operators import Add, full_reuse
from olmix.updates.planning import swarm_size
from olmix.updates.reuse import carry_swarm
from olmix.updates.theory import coupling

TOPICS = ("web:sports", "web:news", "web:software", "web:games", "web:health")
CODE = ("code:python", "code:rust")
BEFORE = DomainSet.from_token_counts({name: 10**9 for name in TOPICS})
UPDATE = Add(tuple(Domain.named(name, 10**8) for name in CODE))
AFTER = UPDATE.apply(BEFORE)


@pytest.fixture
def world(world_of):
    """Code tasks are moved by web:software and the code domains, QA tasks a little by the rest."""
    code, qa = [-0.1, -0.1, -2.0, -0.1, -0.1, -2.5, -2.5], [-0.4, -0.5, 0.0, -0.4, -0.5, 0.0, 0.1]
    rng = np.random.default_rng(0)
    coef = np.array([code] * 4 + [qa] * 4) + 0.05 * rng.standard_normal((8, 7))
    return world_of(AFTER, coef, np.full(8, 0.5))


def tables(world, *, noise=0.0):
    """The old swarm carried to D', and the probe over the virtual domain and the code domains."""
    existing = Mix(TOPICS, [0.2] * 5)
    old = world.restricted(TOPICS).swarm(40, seed=1, noise=noise)
    carried = carry_swarm(old, UPDATE, BEFORE)
    collapse = Collapse(AFTER, full_reuse(BEFORE, AFTER), existing)
    rng = np.random.default_rng(2)
    count = probe_size(BEFORE, AFTER)
    mixes = rng.dirichlet(np.ones(3), size=count) @ collapse.expansion
    metrics = world.bpb(mixes) + noise * rng.standard_normal((count, 8))
    probe = SwarmTable(
        tuple(f"probe{k}" for k in range(count)), AFTER.names, mixes, old.tasks, metrics
    )
    return join_swarms(carried, probe)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_topic_that_shares_the_new_domains_tasks_is_chosen_first(world, noise):
    choice = choose_reuse(tables(world, noise=noise), BEFORE, AFTER, budget=64)
    assert choice.steps[0].domain == "web:software"
    assert "web:software" in choice.split.recomputed
    assert set(CODE) <= set(choice.split.recomputed)
    assert set(choice.split.members) == set(AFTER.names)
    text = "\n".join(choice.explain())
    assert "Recompute web:software: κ falls by" in text
    assert f"{choice.probe_runs} probe runs" in text
    assert choice.stopped in text


def test_the_numbers_are_those_of_the_law(world):
    """With the law given instead of fitted, every κ along the way is the coupling itself."""
    model = world.surrogate.regressor
    choice = choose_reuse(
        tables(world), BEFORE, AFTER, budget=1000, min_reduction=0.0001, model=model
    )
    fixed = np.array([name in TOPICS for name in AFTER.names])
    assert choice.initial_coupling == pytest.approx(coupling(world.coef, fixed))
    before = choice.initial_coupling
    for step in choice.steps:
        candidates = {}
        for j in np.flatnonzero(fixed):
            without = fixed.copy()
            without[j] = False
            candidates[AFTER.names[j]] = coupling(world.coef, without)
        assert step.domain == min(candidates, key=candidates.get), "not the greediest"
        assert step.coupling == pytest.approx(candidates[step.domain])
        assert step.reduction == pytest.approx(before - step.coupling)
        before = step.coupling
        fixed[AFTER.names.index(step.domain)] = False


@pytest.mark.parametrize("c", [1, 2, 3])
def test_the_budget_holds_with_the_probe_in_it(world, c):
    swarm = tables(world)
    assert probe_size(BEFORE, AFTER) == 4  # the virtual domain and two new ones, plus one
    model = world.surrogate.regressor  # the law itself: fitting is not what is tested here
    least = max(swarm_size(3, c), 4)
    for budget in range(least, 40):
        choice = choose_reuse(
            swarm, BEFORE, AFTER, budget=budget, c=c, min_reduction=0.0, model=model
        )
        assert choice.probe_runs <= choice.runs <= budget
        # What it says the swarm costs is what a swarm of that many weights costs.
        assert choice.runs == max(swarm_size(choice.split.dimension, c), 4)
        for earlier, later in zip(choice.steps, choice.steps[1:], strict=False):
            assert earlier.runs <= later.runs
    with pytest.raises(OlmixError, match=f"already needs {least} runs, the budget is {least - 1}"):
        choose_reuse(swarm, BEFORE, AFTER, budget=least - 1, c=c)


def test_more_budget_never_recomputes_less(world):
    swarm = tables(world)
    sizes = [
        len(choose_reuse(swarm, BEFORE, AFTER, budget=budget, min_reduction=0.0).steps)
        for budget in (8, 16, 32, 64)
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_it_stops_where_nothing_is_gained(world):
    choice = choose_reuse(tables(world), BEFORE, AFTER, budget=1000, min_reduction=0.99)
    assert choice.steps == ()
    assert "would lower κ by only" in choice.stopped
    assert choice.split.groups["existing"] == TOPICS


def test_no_coupling_recomputes_nothing(world_of):
    coef = np.zeros((3, 7))
    coef[:, 5:] = -1.0
    flat = world_of(AFTER, coef, np.ones(3))
    swarm = SwarmTable(("r",), AFTER.names, np.eye(7)[:1], ("t",), np.ones((1, 1)))
    choice = choose_reuse(swarm, BEFORE, AFTER, budget=99, model=flat.surrogate.regressor)
    assert choice.initial_coupling == 0.0
    assert choice.steps == ()
    assert "κ is 0 already" in choice.explain()[-1]


def test_a_swarm_over_the_old_domains_is_refused(world):
    with pytest.raises(OlmixError, match="not over the updated domains"):
        choose_reuse(world.restricted(TOPICS).swarm(5, seed=0), BEFORE, AFTER, budget=99)


def test_nothing_to_reuse(world):
    other = DomainSet.from_token_counts({name: 5 for name in AFTER.names})
    with pytest.raises(OlmixError, match="every domain is affected"):
        choose_reuse(world.swarm(5, seed=0), other, AFTER, budget=99)


def test_a_removal_needs_no_probe():
    assert probe_size(BEFORE, BEFORE.subset(TOPICS[1:])) == 0


def test_joined_swarms_keep_their_tasks_and_refuse_others(world):
    first = world.swarm(4, seed=0)
    second = world.swarm(3, seed=1)
    renamed = SwarmTable(
        ("x", "y", "z"), second.domains, second.mixes, second.tasks[::-1], second.metrics[:, ::-1]
    )
    joined = join_swarms(first, renamed)
    assert joined.tasks == first.tasks
    np.testing.assert_array_equal(joined.metrics[4:], second.metrics)
    with pytest.raises(OlmixError, match="run 'run0' is in both"):
        join_swarms(first, second)
    with pytest.raises(OlmixError, match="cannot join swarms: 7 and 5 domains"):
        join_swarms(first, world.restricted(TOPICS).swarm(3, seed=1))
