"""What single questions add to a plan."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import MISSING, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from olmix.proposers.method import Method
from olmix.questions.catalogue import load_questions, plan_study
from olmix.study.jobs import Jobs
from olmix.study.plan import Plan
from olmix.study.runs import data_seed_of
from olmix.study.scale import load_scale
from olmix.study.spec import ProposalSpec

REPOSITORY = Path(__file__).parents[2]


@cache
def planned(name: str) -> Plan:
    return plan_study(load_scale(REPOSITORY / "config" / "scales", name), REPOSITORY)


def test_noise_trains_one_mix_with_several_data_seeds():
    plan = planned("tiny")
    swarms = set(plan.reads["noise"].swarms)
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
    assert plan.mixes["noise-olmix_base"].prior == ("noise", "olmix_base")
    assert plan.studies["noise"].proposals[0].swarm == "topics"
    base = next(p for p in plan.studies["rq7"].proposals if p.name == "topics-kl-0.05")
    assert plan.studies["noise"].proposals[0] == replace(base, name="olmix_base")


def test_noise_at_the_target_is_measured_on_the_mixes_listed():
    plan = planned("paper")
    sizes = {name: plan.swarms[name].size for name in plan.reads["noise"].swarms}
    assert sizes == {"noise-natural": 3, "noise-natural-target": 3, "noise-olmix_base": 3}


def test_target_runs_of_proposals_are_repeated_with_other_data_orders():
    plan = planned("tiny")
    names = ["rq7-target", "rq7-target-repeat1", "rq7-target-repeat2", "rq7-target-repeat3"]
    assert [name for name in plan.reads["rq7"].swarms if "target" in name] == names
    swarms = [plan.swarms[name] for name in names]
    assert [data_seed_of(swarm, 0) for swarm in swarms] == [0, 1, 2, 3]
    assert {swarm.proposals for swarm in swarms} == {swarms[0].proposals}
    # The paper trains each once.
    single = planned("paper")
    assert [name for name in single.reads["rq7"].swarms if "target" in name] == names[:1]


def asked(plan: Plan, question: str) -> list[object]:
    """Everything a question's proposals and chains are told of the method and the request."""
    reads, jobs = plan.reads[question], Jobs(plan)
    followed = bool(set(plan.needed_swarms(question)) & chained(plan))
    told = [jobs.method, jobs.request_of("olmix_base")] if followed else []
    return [*(plan.studies[study] for study in reads.studies), *told]


def chained(plan: Plan) -> set[str]:
    """The target runs of all groups of chains."""
    return {updates.groups[group].target for group, updates in plan.groups.items()}


@pytest.mark.parametrize(("setting", "value"), [("kl", 0.1), ("repetition", 3)])
def test_editing_a_scale_changes_the_plan_of_every_question_that_proposes(setting, value):
    scale = load_scale(REPOSITORY / "config" / "scales", "smoke")
    edited = replace(scale, content=scale.content | {setting: value})
    changed = plan_study(edited, REPOSITORY)
    before = planned("smoke")
    same = {name for name in before.reads if asked(before, name) == asked(changed, name)}
    # RQ1 proposes nothing; RQ2 searches without caps and without a KL term, as the paper did.
    assert same == {"rq1", "rq2"}


@pytest.mark.parametrize(
    ("choice", "value", "same"),
    [
        # RQ1 proposes nothing, and the question that varies the choice does so all the same.
        ("granularity", "aggregated", {"rq1", "rq5"}),
        ("regression_family", "bimix", {"rq1", "rq4"}),
    ],
)
def test_editing_olmix_base_changes_every_question(tmp_path, choice, value, same):
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    path = tmp_path / "config" / "methods" / "olmix_base.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {choice: value}))
    changed = plan_study(load_scale(tmp_path / "config" / "scales", "smoke"), tmp_path)
    before = planned("smoke")
    assert {name for name in before.reads if asked(before, name) == asked(changed, name)} == same


def test_a_proposal_says_its_whole_method():
    """No default in code stands in for a choice of the method or the scale."""
    method = {"regressor", "granularity", "proposer", "kl", "repetition"}
    assert method <= {entry.name for entry in fields(ProposalSpec) if entry.default is MISSING}
    choices = {entry.name: entry.default for entry in fields(Method)}
    assert all(choices[name] is MISSING for name in ("regressor", "granularity", "proposer"))


@pytest.mark.parametrize("name", load_questions())
def test_a_question_is_one_folder_with_all_its_parts(name):
    question = load_questions()[name]
    modules = {
        part: import_module(f"olmix.questions.{name}.{part}")
        for part in ("answer", "captions", *(["figures"] if question.figures else []))
    }
    assert callable(modules["answer"].answer)
    assert callable(modules["captions"].finding)
    for figure in question.figures:
        assert callable(getattr(modules["figures"], figure))
        assert callable(getattr(modules["captions"], figure))
    assert set(question.needs) <= {name, *question.figures}
    if not question.own_text:
        known = load_scale(REPOSITORY / "config" / "scales", "smoke").content
        assert all(key in known for key in question.settings if key != name)


def test_questions_have_places_of_their_own():
    for own_text in (False, True):
        asked = [q for q in load_questions().values() if q.own_text == own_text]
        places = [question.place for question in asked]
        assert places and places == sorted(set(places))
    figures = [figure for question in load_questions().values() for figure in question.figures]
    assert len(set(figures)) == len(figures)


def test_everything_read_is_planned_and_told_as_plain_values():
    for scale in ("smoke", "paper"):
        plan = planned(scale)
        for name in plan.reads:
            job = Jobs(plan).question(name)
            assert set(plan.read_swarms(name)) <= set(plan.swarms)
            assert json.loads(json.dumps(job.planned))
            assert len(job.input["ratios"]) == len(job.input["metrics"]) == len(job.swarms)


def test_parsing_imports_nothing_slow():
    """What the Snakefile imports and plans, in a process of its own."""
    lookups = sorted((REPOSITORY / "workflow" / "lookups").glob("*.smk"))
    statement = re.compile(r"^(?:from|import) olmix[^\n(]*(?:\([^)]*\))?", re.MULTILINE)
    imports = [found for path in lookups for found in statement.findall(path.read_text())]
    assert len(imports) > 10
    program = "\n".join(
        [
            "import sys",
            *imports,
            "scale = load_scale('config/scales', 'paper')",
            "jobs = Jobs(plan_study(scale, '.'))",
            "slow = ('pandas', 'matplotlib', 'torch', 'sklearn', 'scipy', 'cvxpy', 'lightgbm')",
            "print([name for name in slow if name in sys.modules])",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "scripts")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
