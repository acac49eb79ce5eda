"""What single questions add to a plan."""

from dataclasses import replace
from pathlib import Path

from olmix.study.questions import plan_questions
from olmix.study.runs import data_seed_of
from olmix.study.scale import load_scale

SCALES = Path(__file__).parents[2] / "config" / "scales"


def test_noise_trains_one_mix_with_several_data_seeds():
    plan = plan_questions(load_scale(SCALES, "tiny"))
    swarms = set(plan.reads["noise"])
    assert swarms == {"noise-natural", "noise-natural-target", "noise-olmix_base",
                      "noise-olmix_base-target"}  # fmt: skip
    for name in swarms:
        swarm = plan.swarms[name]
        assert swarm.size == 4
        assert plan.mixes[swarm.mixes].kind == "fixed"
        seeds = {data_seed_of(swarm, index) for index in range(swarm.size)}
        assert len(seeds) == 4
        assert swarm.model == ("target" if name.endswith("target") else "30m")
    # OlmixBase's mix is its proposal on the main swarm.
    assert plan.mixes["noise-olmix_base"].prior == "noise/olmix_base"
    assert plan.studies["noise"].proposals[0].swarm == "topics"
    base = next(p for p in plan.studies["rq7"].proposals if p.name == "topics-kl-0.05")
    assert plan.studies["noise"].proposals[0] == replace(base, name="olmix_base")


def test_noise_at_the_target_is_measured_on_the_mixes_listed():
    plan = plan_questions(load_scale(SCALES, "paper"))
    sizes = {name: plan.swarms[name].size for name in plan.reads["noise"]}
    assert sizes == {"noise-natural": 3, "noise-natural-target": 3, "noise-olmix_base": 3}


def test_target_runs_of_proposals_are_repeated_with_other_data_orders():
    plan = plan_questions(load_scale(SCALES, "tiny"))
    names = ["rq7-target", "rq7-target-repeat1", "rq7-target-repeat2", "rq7-target-repeat3"]
    assert [name for name in plan.reads["rq7"] if "target" in name] == names
    swarms = [plan.swarms[name] for name in names]
    assert [data_seed_of(swarm, 0) for swarm in swarms] == [0, 1, 2, 3]
    assert {swarm.proposals for swarm in swarms} == {swarms[0].proposals}
    # The paper trains each once.
    single = plan_questions(load_scale(SCALES, "paper"))
    assert [name for name in single.reads["rq7"] if "target" in name] == names[:1]
