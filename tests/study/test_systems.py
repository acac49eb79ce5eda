"""Systems: the shipped files, what is refused, what is planned, what they are said to cost."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from olmix.cost.compute import Machine, RunCost
from olmix.cost.methods import Spent, method_cost
from olmix.errors import OlmixError
from olmix.questions.catalogue import plan_study
from olmix.study.jobs import Jobs
from olmix.study.scale import load_scale
from olmix.study.systems import as_system, load_systems, told_of
from olmix.systems import algorithm_names

CONFIG = Path(__file__).parents[2] / "config"
SYSTEMS = load_systems(CONFIG / "methods")


@pytest.fixture(scope="module")
def tiny():
    return load_scale(CONFIG / "scales", "tiny")


@pytest.fixture(scope="module")
def jobs(tiny):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("olmix.systems.admire.lacks", lambda: "")
        return Jobs(plan_study(tiny, CONFIG.parent))


def test_every_algorithm_has_a_file():
    assert sorted(system.algorithm for system in SYSTEMS.values()) == algorithm_names()


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_job_is_told_all_of_a_system(name):
    assert as_system(told_of(SYSTEMS[name])) == SYSTEMS[name]


def test_run_counts_are_those_of_the_publications():
    climb, admire = SYSTEMS["climb"], SYSTEMS["admire"]
    assert climb.round_sizes(21, None) == [64, 32, 16]
    assert admire.round_sizes(17, None) == [1] * 101
    assert sum(admire.round_sizes(17, 6)) == 101


def test_rounds_are_chained_and_their_number_is_known(jobs):
    plan = jobs.plan
    names = [name for name, found in plan.rounds.items() if found.system == "climb"]
    assert [plan.swarms[name].size for name in names] == [24, 12, 6]
    assert plan.rounds[names[2]].before == tuple(names[:2])
    asked = jobs.round(names[2])
    assert asked.input["ratios"] == [jobs.swarm(name).ratios for name in names[:2]]
    assert jobs.round(names[0]).input == {}
    assert jobs.swarm(names[2]).mixes == asked.mixes
    assert set(names) <= plan.needed_swarms("methods")


def test_a_round_may_train_cheaper_models(jobs):
    swarm = jobs.swarm("admire-round1")
    assert swarm.science["models"] == {"1m": jobs.plan.scale.model("1m")}
    costs = jobs.round("admire-round1").told["models"]
    assert list(costs) == ["1m", "60m"]
    assert costs["60m"] == 1 > costs["1m"] > 0


def test_a_steered_run_comes_after_what_it_learns_from(jobs):
    doremi, skill_it = jobs.swarm("doremi-run"), jobs.swarm("skill_it-target")
    assert doremi.learns_from == {"reference": jobs.swarm("doremi-reference").trained[0]}
    assert doremi.science["steering"]["algorithm"] == "doremi"
    assert skill_it.learns_from == {"graph": jobs.single_runs("skill_it-single").graph}
    assert skill_it.spec.size == jobs.plan.scale["target_repeats"]
    assert jobs.swarm("odm-target").learns_from == {}
    assert "steering" not in jobs.swarm("topics").science


def test_without_botorch_admire_is_left_out_by_name(tiny, monkeypatch):
    monkeypatch.setattr("olmix.systems.admire.lacks", lambda: "BoTorch")
    plan = plan_study(tiny, CONFIG.parent)
    assert plan.reads["methods"].planned["left_out"] == {"ADMIRE-BayesOpt": "BoTorch"}
    assert not [name for name in plan.swarms if name.startswith("admire")]


def test_repetition_matched_proxies_read_the_share_of_each_domain_that_they_are_of_the_target(jobs):
    science, proxy = jobs.swarm("topics-matched").science, jobs.swarm("topics")
    tokens, requested = proxy.cost.size.tokens, jobs.plan.scale["requested_tokens"]["tight"]
    assert science["data_share"] == tokens / requested
    assert "data_share" not in proxy.science


# Costs


def test_cost_is_compute_in_runs_of_the_proxy(tiny):
    machine = Machine.from_dict(tiny["hardware"])
    small, proxy = (RunCost(name, tiny.model(name), machine) for name in ("1m", "30m"))
    cost = method_cost([Spent("1m", 10), Spent("30m", 2, 1.5)], tiny)
    assert cost.runs == 12
    assert cost.tokens == 10 * small.size.tokens + 2 * proxy.size.tokens
    assert cost.proxy_runs == pytest.approx(10 * small.flops / proxy.flops + 3)
    assert cost.device_hours == pytest.approx(10 * small.hours(0) + 3 * proxy.hours(0))
    assert method_cost([], tiny).proxy_runs == 0


@pytest.mark.parametrize(
    ("name", "proxy_runs"),
    [("doremi", 1 + 4 / 3), ("doge", 3), ("chameleon", 1), ("unimax", 0), ("odm", 0), ("ado", 0),
     ("climb", 42)],
)  # fmt: skip
def test_what_systems_cost(tiny, name, proxy_runs):
    spent = SYSTEMS[name].spends(tiny, 8)
    assert method_cost(spent, tiny).proxy_runs == pytest.approx(proxy_runs)


def test_skill_it_costs_a_run_per_domain_and_what_it_measures(tiny):
    single, held_out = SYSTEMS["skill_it"].spends(tiny, 8)
    assert single == Spent("30m", 8)
    # Nine times four sequences of 64 tokens of eight domains, forward, in a run of 179,200.
    assert held_out == Spent("target", pytest.approx(9 * 4 * 64 * 8 / 179_200), 1 / 3)


# Refusals


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("climb", {"algorithm": "magic"}, "no algorithm 'magic'; expected one of admire"),
        ("climb", {"rounds": 2}, "unknown key 'rounds'"),
        ("climb", {"runs_per_domain": 0}, "runs_per_domain is 0, expected a positive number"),
        ("climb", {"runs_per_domain": [1, "two"]}, "runs_per_domain is"),
        ("climb", {"starts_from": "uniform"}, "unknown key 'starts_from'"),
        ("doremi", {"reference": "odd"}, "reference is 'odd', expected one of natural, uniform"),
        ("doremi", {"repetition_constraint": 1}, "repetition_constraint is 1"),
        ("odm", {"repetition_constraint": True}, "unknown key 'repetition_constraint'"),
    ],
)
def test_what_a_system_may_not_say(tmp_path, name, change, message):
    content = yaml.safe_load((CONFIG / "methods" / f"{name}.yaml").read_text())
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content | change))
    with pytest.raises(OlmixError) as error:
        load_systems(tmp_path)
    assert message in str(error.value)
    assert "mine.yaml" in str(error.value)


# Updates under another method


def test_an_update_is_answered_by_the_method_its_sequence_names(jobs):
    stage = jobs.stage(next(name for name in jobs.steps if name.startswith("main-")))
    assert stage.method == jobs.method
    other = replace(stage.updates, sequence=replace(stage.updates.sequence, method="regmix"))
    stage = replace(stage, updates=other)
    assert stage.method == {
        "regressor": "lightgbm", "granularity": "aggregated", "proposer": "simulated",
    }  # fmt: skip
    assert stage.request["repetition"] is None
