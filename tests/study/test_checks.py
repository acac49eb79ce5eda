from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from olmix.errors import OlmixError
from olmix.questions.catalogue import plan_study
from olmix.study.checks import check_plan
from olmix.study.scale import Scale, load_scale

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize("name", ["smoke", "tiny", "paper", "measured"])
def test_the_shipped_scales_pass(name):
    check_plan(plan_study(load_scale(CONFIG / "scales", name), CONFIG.parent))


def put(content, path, value):
    *folders, last = path.split(".")
    for folder in folders:
        content = content[folder]
    assert last in content
    content[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("requested_tokens.tight", 1e12, "requested_tokens tight: caps: the repetition caps"),
        ("rq2.domains", [3, 5], "rq2.domains: the largest is 5, expected 4"),
        ("rq2.domains", [2, 3], "rq2.domains: the largest is 3, expected 4"),
        ("rq4.sizes", {"topics": [11], "sources": [5]}, "rq4.sizes.topics: 11 runs, but 4 of 14"),
        ("rq1.models", ["1m", "7b"], "has no model '7b'"),
        ("repetition", float("inf"), "repetition is inf"),
        ("engine", "simulate", "engine 'simulate' with data world, expected law"),
        ("data", {"law": {}}, "engine 'train' with data law, expected world or corpora or public"),
        ("swarm_sizes.capped", 4, "4 runs for 4 domains, a log-linear fit needs at least 5"),
    ],
)
def test_a_scale_that_cannot_work_is_refused(path, value, message):
    content = deepcopy(load_scale(CONFIG / "scales", "smoke").content)
    put(content, path, value)
    scale = Scale("mine", content)
    with pytest.raises(OlmixError, match=message):
        plan_study(scale, CONFIG.parent)


def test_more_runs_than_the_swarm_has():
    plan = plan_study(load_scale(CONFIG / "scales", "smoke"), CONFIG.parent)
    study = next(iter(plan.studies.values()))
    greedy = replace(study.proposals[0], runs=1000)
    plan.studies[study.name] = replace(study, proposals=(greedy, *study.proposals[1:]))
    with pytest.raises(OlmixError, match=f"{study.name}/{greedy.name}: 1000 runs of a swarm of"):
        check_plan(plan)


def test_a_simulated_model_needs_its_noise():
    content = deepcopy(load_scale(CONFIG / "scales", "measured").content)
    del content["models"]["15m"]["noise"]
    scale = Scale("mine", content)
    with pytest.raises(OlmixError, match="model '15m' has no noise"):
        plan_study(scale, CONFIG.parent)
