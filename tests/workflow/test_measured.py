"""The measured law end to end: the scale file decides, figures say so, nothing is trained."""

import json

import pandas as pd
import pytest
import yaml

from olmix.files import read_json

pytestmark = pytest.mark.slow

# The paper's updates on fewer of its domains.
UPDATES = {
    "domains": "../domains/paper.yaml",
    "initial": [
        f"dclm:{topic}"
        for topic in (
            "politics", "entertainment", "science_math_and_technology", "health", "literature",
            "software_development",
        )
    ],
    "reuse_within": ["dclm", "stack-edu"],
    "updates": [
        {
            "name": "add_code",
            "add": ["stack-edu:Python", "stack-edu:Java"],
            "recompute": ["dclm:software_development"],
            "prior": {"dclm": 0.75, "stack-edu": 0.25},
        },
        {"name": "add_sources", "add": ["pdf", "wikipedia"]},
        {"name": "revise_pdfs", "revise": ["pdf"]},
        {"name": "remove_wikipedia", "remove": ["wikipedia"]},
        {"name": "partition_pdfs", "partition": ["pdf"]},
    ],
}  # fmt: skip
FIGURES = ("main_results", "proposed_mixes")


@pytest.fixture(scope="module")
def finished(module_clone):
    """A clone where the evolving-domain study has run at a small scale with the measured law."""
    config = module_clone.folder / "config"
    (config / "updates" / "few.yaml").write_text(yaml.safe_dump(UPDATES, sort_keys=False))
    # The engine decides, not the name.
    scale = {
        "extends": "measured",
        "updates": "config/updates/few.yaml",
        "seeds": 1,
        "rq2": {"domains": [3, 6]},
    }
    (config / "scales" / "mine.yaml").write_text(yaml.safe_dump(scale, sort_keys=False))
    targets = [f"figures/{figure}.pdf" for figure in FIGURES]
    done = module_clone.snakemake("--cores", "2", *targets, scale="mine")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return module_clone


def test_nothing_was_trained(finished):
    results = finished.folder / "results" / "mine"
    made = {path.name for path in results.iterdir()}
    assert {"build_domains", "sample_stage", "update_mixes", "collect_swarm"} <= made
    assert not made & {"list_runs", "train_proxies", "train_targets", "runs"}
    data = {path.name for path in (results / "build_domains").glob("[a-z]*")}
    assert data == {"domains.json", "families.json", "law.json", "stores.json"}


def test_everything_says_it_is_a_measured_law(finished):
    for figure in FIGURES:
        assert (finished.folder / "figures" / f"{figure}.png").stat().st_size > 10_000
    for name in ("summary", "provenance"):
        record = read_json(finished.folder / "results" / "updates" / f"{name}.json")
        assert record["notice"].startswith("MEASURED LAW"), name
    assert "data_efficiency" not in read_json(finished.folder / "results/updates/summary.json")


def test_every_strategy_beats_natural(finished):
    frame = pd.read_csv(finished.folder / "results" / "updates" / "main_results.csv")
    best = frame[(frame["strategy"] != "full_recomputation") | (frame["c"] == 3)]
    assert len(best) == 5
    assert (best["improvement"] > 0).all(), frame


def test_a_models_noise_reruns_its_swarms_alone(finished):
    path = finished.folder / "config" / "scales" / "mine.yaml"
    scale = yaml.safe_load(path.read_text())
    scale["models"] = {"target": {"noise": 0.02}}
    path.write_text(yaml.safe_dump(scale, sort_keys=False))
    jobs = finished.planned("figures/main_results.pdf", scale="mine")
    assert jobs == {"all": 1, "draw_figure": 1, "simulate_swarm": 1, "updates": 1} or (
        jobs == {"draw_figure": 1, "simulate_swarm": 1, "updates": 1}
    ), json.dumps(jobs)


def test_another_replica_is_another_world(finished):
    path = finished.folder / "config" / "scales" / "mine.yaml"
    scale = yaml.safe_load(path.read_text()) | {"data": {"law": {"replica": 1}}}
    path.write_text(yaml.safe_dump(scale, sort_keys=False))
    jobs = finished.planned("figures/main_results.pdf", scale="mine")
    assert jobs["build_domains"] == 1
    assert jobs["simulate_swarm"] > 1
