"""Public texts in the graph: `paper` on a fresh clone, and `rehearsal`, the same but small."""

import re
from pathlib import Path

import pytest

from olmix.cost.gpu_requests import training_requests
from olmix.questions.catalogue import asked_questions, plan_study
from olmix.study.scale import load_scale

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
# What the rehearsal makes and the paper does not, and why; nothing is allowed the other way.
ONLY_REHEARSED = {
    "Gathering text of this machine in the layout of the public datasets": "it makes its own hub",
}
# Requests for devices that the rehearsal has not got: (model, GPUs, nodes), and who tries them.
NOT_REHEARSED = {
    ("1m", 1, 1): "it runs without GPUs: `snakemake preflight` trains on one",
    ("15m", 1, 1): "as 1m",
    ("30m", 1, 1): "as 1m",
    ("60m", 1, 1): "as 1m",
    ("target", 32, 4): "as 1m, and on several nodes; with gloo in tests/slurm/test_nodes.py",
}


@pytest.fixture(scope="module")
def plans(module_clone):
    clone = module_clone
    return {scale: clone.planned(scale=scale) for scale in ("paper", "rehearsal")}


def test_a_rehearsal_has_the_rules_of_the_paper_and_one_that_gathers_its_text(plans):
    assert set(plans["rehearsal"]) == set(plans["paper"]) | {"gather_text"}


def kinds(clone, scale: str) -> set[str]:
    """What the jobs of everything, ours too, say that they do, whatever their number of shard."""
    done = clone.snakemake("-n", scale=scale, config=("ours=true",))
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)
    assert said
    whole = f"of scale {scale}"
    return {re.sub(r", (shard|job) \d+", r", \1", line.replace(whole, "")) for line in said}


def test_every_kind_of_job_of_the_paper_is_rehearsed(module_clone):
    paper, rehearsal = kinds(module_clone, "paper"), kinds(module_clone, "rehearsal")
    assert sorted(paper - rehearsal) == []
    assert rehearsal - paper == set(ONLY_REHEARSED)


def trained_kinds(scale_name: str) -> set[tuple]:
    """Of every question: models, whence and over what their mixes are, and whether with curves."""
    scale = load_scale(REPOSITORY / "config" / "scales", scale_name)
    plan, found = plan_study(scale, REPOSITORY), set()
    for question in asked_questions(scale):
        for name in plan.needed_swarms(question):
            swarm = plan.swarms[name]
            mixes = plan.mixes.get(swarm.mixes)
            drawn = mixes and (mixes.kind, mixes.capped, mixes.space.split, mixes.space.stage)
            found.add((question, swarm.model, swarm.made_by, drawn, bool(swarm.curve)))
    return found


def test_every_question_trains_the_same_models_on_the_same_kinds_of_mixes():
    paper = trained_kinds("paper")
    assert {model for _, model, *_ in paper} == {"1m", "15m", "30m", "60m", "target"}
    assert paper == trained_kinds("rehearsal")


def devices(scale_name: str) -> set[tuple[str, int, int]]:
    """What training each model asks for: GPUs and nodes."""
    scale = load_scale(REPOSITORY / "config" / "scales", scale_name)
    requests = training_requests(scale, "gpu")
    return {(name, request.gpu or 0, request.nodes) for name, request in requests.items()}


def test_devices_that_are_not_rehearsed_are_listed_with_who_tries_them():
    assert devices("paper") - devices("rehearsal") == set(NOT_REHEARSED)


def test_all_at_paper_is_the_papers(plans):
    assert not {"methods", "noise", "claims", "choose_recomputed", "sample_probe"} & set(
        plans["paper"]
    )


@pytest.mark.parametrize("target", ["results/methods", "results/noise", "results/claims.csv"])
def test_ours_is_made_when_asked_for_by_name(module_clone, target):
    jobs = module_clone.planned(target, scale="paper")
    assert target.split("/")[1].removesuffix(".csv") in jobs


def test_ours_is_made_where_the_config_says_so(module_clone):
    done = module_clone.snakemake("-n", "results/updates", scale="paper", config=("ours=true",))
    assert "Choosing what main recomputes" in done.stdout + done.stderr


def test_a_dry_run_lists_download_to_figure_and_ends_with_the_data_plan(module_clone):
    done = module_clone.snakemake("-n", "figures/main_results.pdf", scale="paper")
    text = done.stdout + done.stderr
    for rule in ("list_source", "download_source", "tokenize_source", "join_source", "build_suite",
                 "fetch_tokenizer", "check_data", "train_targets", "draw_figure"):  # fmt: skip
        assert f"\n{rule} " in text
    assert "Data plan: from https://huggingface.co to data/paper" in done.stdout[-3000:]
    assert "licence odc-by; access open" in done.stdout[-3000:]


def test_local_paths_take_the_place_of_a_download(module_clone):
    path = module_clone.folder / "config" / "corpora.yaml"
    before = path.read_text()
    try:
        path.write_text(
            before.replace("  wikipedia:\n", "  wikipedia:\n    paths: [/mine/*.jsonl]\n")
        )
        done = module_clone.snakemake(
            "-n", "results/paper/join_source/wikipedia.json", scale="paper"
        )
        text = done.stdout + done.stderr
        assert "tokenize_source" in text
        assert "download_source" not in text
        assert "its 'paths' in config/corpora.yaml" in text
    finally:
        path.write_text(before)
