"""The evolving-domain study against the paper's cost tables, and the swarms it asks for."""

from functools import cache
from pathlib import Path

import pytest

from olmix.questions.catalogue import plan_study
from olmix.study.chain import Chain
from olmix.study.plan import Plan
from olmix.study.scale import load_scale
from olmix.study.update_plan import UpdatePlan
from olmix.updates.planning import swarm_size
from olmix.updates.sequence import INITIAL
from olmix.updates.strategies import AUTO_PARTIAL_REUSE

REPOSITORY = Path(__file__).parents[2]
SCALES = ("paper", "tiny", "smoke")
AUTO = AUTO_PARTIAL_REUSE.name


@cache
def whole(name: str) -> Plan:
    return plan_study(load_scale(REPOSITORY / "config" / "scales", name), REPOSITORY)


def updates(name: str) -> UpdatePlan:
    return whole(name).updates


def chain(strategy: str, c: int = 3) -> Chain:
    return Chain(strategy, c, "relaxed", 0)


@pytest.mark.parametrize(
    ("strategy", "c", "total"),
    [
        ("full_recomputation", 3, 832),
        ("full_recomputation", 2, 416),
        ("full_recomputation", 1, 267),
        ("swarm_reuse", 3, 268),
        ("full_mixture_reuse", 3, 216),
        ("partial_mixture_reuse", 3, 272),
        ("swarm_reuse", 2, 140),
        ("swarm_reuse", 1, 77),
        ("full_mixture_reuse", 2, 108),
        ("full_mixture_reuse", 1, 76),
    ],
)
def test_totals_are_the_papers(strategy, c, total):
    assert updates("paper").total_runs(chain(strategy, c)) == total


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("c", [1, 2, 3])
def test_auto_never_costs_more_than_partial_reuse(scale, c):
    plan = updates(scale)
    for stage in plan.stages:
        budget = plan.budget(chain(AUTO, c), stage)
        assert budget <= plan.budget(chain("partial_mixture_reuse", c), stage)
        assert plan.probe_runs(chain(AUTO, c), stage) <= budget
        if stage != INITIAL:
            spent = plan.runs(chain(AUTO, c), stage) + plan.probe_runs(chain(AUTO, c), stage)
            assert spent == budget


def test_auto_probes_what_an_update_affects_and_nothing_after_a_removal():
    plan = updates("smoke")
    probes = {stage: plan.probe_runs(chain(AUTO), stage) for stage in plan.stages}
    # m+1 over the virtual domain and 2, 3, 1, 0 and 4 affected ones.
    assert probes == {
        "initial": 0, "add_code": 4, "add_sources": 5, "revise_pdfs": 3, "remove_algebra_code": 0,
        "partition_pdfs": 6,
    }  # fmt: skip
    assert plan.budget(chain(AUTO), "remove_algebra_code") == 0
    assert plan.probe_runs(chain("partial_mixture_reuse"), "add_code") == 0


def test_stages_in_order():
    plan = updates("smoke")
    assert plan.stages[0] == INITIAL
    assert plan.updates == plan.stages[1:]
    assert [plan.previous(stage) for stage in plan.updates] == plan.stages[:-1]


def test_groups_hold_the_chains_of_the_figures():
    groups = {name: group.chains for name, group in updates("paper").groups.items()}
    assert {group: len(chains) for group, chains in groups.items()} == {
        "main": 3 * (3 + 3), "tight": 3 * (3 + 2), "low": 3 * (3 * 2 + 2 * 2),
        # Three laws and five c of four strategies, but for those of the groups above.
        "fewer_runs": 3 * (3 * 5 * 4 - 3 * 3),
    }  # fmt: skip
    names = [chain.name for chains in groups.values() for chain in chains]
    assert len(set(names)) == len(names)
    # A chain's runs are found by their names: none may be another's.
    every = [chain for chains in groups.values() for chain in chains]
    assert all(a.owns(b.run_name("stage", 1, 0)) == (a == b) for a in every for b in every)
    assert all(Chain(**chain.to_dict()) == chain for chain in groups["main"])


@pytest.fixture(scope="module", params=SCALES)
def planned(request) -> tuple[UpdatePlan, Plan]:
    plan = whole(request.param)
    return plan.updates, plan


def test_swarms_add_up(planned):
    updating, plan = planned
    for group in updating.groups.values():
        chains = group.chains
        for stage in updating.updates:
            reusing = [c for c in chains if c.strategy not in ("full_recomputation", "swarm_reuse")]
            size = sum(
                plan.swarms[name].size
                for name in (group.at(stage), group.probe(stage))
                if name in plan.swarms
            )
            assert size == sum(updating.budget(c, stage) for c in reusing)
        target = plan.swarms[group.target]
        assert target.model == "target"
        assert target.proposals == ("natural", *(c.name for c in chains))
        assert target.size == len(chains) + 1
        partial = [c.name for c in chains if c.strategy == "partial_mixture_reuse"]
        assert target.curve == (("natural", *partial) if group.name == "main" else ())
    assert all(swarm.size > 0 for swarm in plan.swarms.values())
    # Swarms of one group at different stages never share a data order.
    names = [updating.groups["main"].at(stage) for stage in updating.updates]
    seeds = [plan.swarms[name].seed for name in names if name in plan.swarms]
    assert len(set(seeds)) == len(seeds)


def test_pools_hold_what_chains_draw(planned):
    updating, plan = planned
    every = [chain for group in updating.groups.values() for chain in group.chains]
    for stage in updating.stages:
        most = max(updating.budget(c, stage) for c in every if updating.draws(c, stage))
        pool = plan.swarms.get(updating.pools[stage])
        assert (pool.size if pool else 0) == updating.pool_size(stage) >= most
        assert pool is None or pool.model == updating.scale.proxy
    last = {stage.name: stage.domains for stage in updating.sequence.stages()}[updating.stages[-1]]
    assert updating.pool_size(updating.stages[-1]) >= swarm_size(len(last), 3)
    if updating.scale.name == "paper":
        assert [updating.pool_size(stage) for stage in updating.stages] == [
            3 * 64, 3 * 64, 3 * 6, 3 * 6, 3 * 5, 3 * 256
        ]  # fmt: skip
