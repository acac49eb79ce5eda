"""The rule graph without running it: every scale, every target, lint and format."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from olmix.questions.catalogue import plan_study
from olmix.study.scale import load_scale

REPOSITORY = Path(__file__).resolve().parents[2]
SCALES = REPOSITORY / "config" / "scales"
QUESTIONS = [f"rq{number}" for number in range(1, 8)]


def whole_plan(name):
    return plan_study(load_scale(SCALES, name), REPOSITORY)


@pytest.mark.parametrize(
    "scale", ["tiny", "tiny-seed1", "smoke", "paper", "rehearsal", "measured", "measured-1"]
)
def test_every_scale_has_a_plan_that_passes_its_checks(scale):
    plan = whole_plan(scale)
    assert set(QUESTIONS) <= set(plan.reads)
    for question in plan.reads:
        assert all(plan.swarms[name].size > 0 for name in plan.needed_swarms(question))


@pytest.mark.parametrize("scale", ["paper", "measured"])
def test_paper_swarms_have_the_papers_sizes(scale):
    plan = whole_plan(scale)
    updates, main = plan.updates, plan.updates.groups["main"].chains
    assert plan.swarms["topics"].size == 128
    assert plan.swarms["sources"].size == 64
    # Appendix RQ2: m = 6, 12, 18, 24 with c = 1..5 and three seeds.
    assert len(plan.studies["rq2"].proposals) == 4 * 5 * 3
    # §5.1: total proxy runs of each strategy of the main figure.
    totals = {chain.strategy: updates.total_runs(chain) for chain in main}
    full = {
        chain.c: updates.total_runs(chain)
        for chain in main
        if chain.strategy == "full_recomputation"
    }
    assert full == {1: 267, 2: 416, 3: 832}
    assert totals["swarm_reuse"] == 268
    assert totals["full_mixture_reuse"] == 216
    assert totals["partial_mixture_reuse"] == 272


def test_questions_share_the_swarms_they_have_in_common():
    plan = whole_plan("tiny")
    needs = [plan.needed_swarms(question) for question in plan.reads]
    alone = sum(plan.swarms[name].size for names in needs for name in names)
    together = sum(plan.swarms[name].size for name in set().union(*needs))
    assert together < 0.8 * alone


def test_dry_run_of_one_question_lists_only_its_jobs(clone):
    jobs = clone.planned("results/rq7/")
    assert jobs["rq7"] == 1
    assert jobs["build_domains"] == 1
    assert not {"rq1", "draw_figure", "update_mixes"} & set(jobs)


@pytest.mark.parametrize("target", ["figures/checkpoints.pdf", "results/rq1"])
def test_what_only_training_gives_is_refused_where_runs_are_simulated(clone, target):
    done = clone.snakemake("-n", target, scale="measured")
    assert done.returncode != 0
    name = target.split("/")[1].removesuffix(".pdf")
    assert f"{name}: needs " in done.stdout + done.stderr
    assert "scale 'measured' trains nothing (engine: simulate)" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["tiny", "paper", "measured"])
def test_dry_run_of_everything_needs_no_data(clone, scale):
    jobs = clone.planned(scale=scale)
    # A law has one size of proxies: RQ1 is not asked of it.
    asked = QUESTIONS[1:] if scale == "measured" else QUESTIONS
    assert set(asked) <= set(jobs)


def test_a_scale_that_cannot_work_is_refused_before_anything_starts(clone):
    path = clone.folder / "config" / "scales" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["swarm_sizes"]["topics"] = 8
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    done = clone.snakemake("-n", "results/rq7")
    assert done.returncode != 0
    assert "rq4.sizes.topics" in done.stdout + done.stderr
    assert "of 8 are held out" in done.stdout + done.stderr


def test_caps_that_no_mix_can_meet_are_refused(clone):
    path = clone.folder / "config" / "scales" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["requested_tokens"]["tight"] = 1e9
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    done = clone.snakemake("-n", "results/rq7")
    assert done.returncode != 0
    assert "requested_tokens tight" in done.stdout + done.stderr


@pytest.mark.parametrize(("file", "key"), [("config.yaml", "scael"), ("scales/smoke.yaml", "sede")])
def test_an_unknown_key_is_refused_by_name(clone, file, key):
    path = clone.folder / "config" / file
    path.write_text(path.read_text() + f"\n{key}: 3\n")
    done = clone.snakemake("-n", "results/rq7")
    assert done.returncode != 0
    assert key in done.stdout + done.stderr


def test_an_unknown_scale_is_refused_with_the_known_ones(clone):
    done = clone.snakemake("-n", "results/rq7", scale="huge")
    assert done.returncode != 0
    assert "huge" in done.stdout + done.stderr
    assert "tiny" in done.stdout + done.stderr


@pytest.mark.slow
def test_claims_need_every_question_and_no_repetition(clone):
    jobs = clone.planned("claims", scale="tiny")
    assert jobs["claims"] == 1
    assert {*QUESTIONS, "noise", "updates", "budgets", "operators", "theory"} <= set(jobs)
    verdicts = clone.folder / "results" / "tiny-seed1" / "verdicts.csv"
    verdicts.parent.mkdir(parents=True)
    verdicts.write_text("id,verdict,value,low,high,rules\n")
    assert clone.planned("claims", scale="tiny") == jobs
    # There it is what is made.
    assert clone.planned("claims", scale="tiny-seed1")["claims"] == 1


def test_a_scale_that_extends_is_checked_as_a_whole(clone):
    path = clone.folder / "config" / "scales" / "mine.yaml"
    path.write_text("extends: smoke\nnoise: {seeds: 1}\n")
    done = clone.snakemake("-n", "results/noise", scale="mine")
    assert done.returncode != 0
    assert "1 is less than the minimum of 2" in done.stdout + done.stderr
    path.write_text("extends: smoke\nnoise: {seeds: 3}\n")
    assert clone.planned("results/noise", scale="mine")["noise"] == 1


@pytest.mark.slow
def test_lint_finds_nothing(clone):
    done = clone.snakemake("--lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_formatted():
    files = [REPOSITORY / "Snakefile", *(REPOSITORY / "workflow" / "rules").glob("*.smk")]
    command = [sys.executable, "-m", "snakefmt", "--check", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_rule_graph_fits_a_page(clone):
    done = clone.snakemake("--rulegraph")
    assert done.returncode == 0, done.stderr
    nodes = [line for line in done.stdout.splitlines() if "[label = " in line]
    assert 10 < len(nodes) <= 40
