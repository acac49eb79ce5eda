"""A sequence of updates under systems, end to end with the measured law: rounds, and no runs."""

import pandas as pd
import pytest
import yaml

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.proposers.proposal import read_mix
from olmix.tables import read_swarm
from olmix.updates.collapse import Collapse
from olmix.updates.sequence import load_updates

pytestmark = pytest.mark.slow

UPDATES = {
    "domains": "../domains/paper.yaml",
    "initial": ["dclm:politics", "dclm:health", "dclm:literature", "dclm:software_development"],
    "updates": [
        {"name": "add_code", "add": ["stack-edu:Python", "stack-edu:Java"]},
        {"name": "remove_java", "remove": ["stack-edu:Java"]},
    ],
}
STAGES = ("initial", "add_code", "remove_java")
REUSED = "full_mixture_reuse-c3-relaxed-seed0"


def prepared(clone, method: str):
    """A clone with a scale of few domains whose updates name a method."""
    config, content = clone.folder / "config", UPDATES | {"method": method}
    (config / "updates" / "few.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    scale = {
        "extends": "measured",
        "updates": "config/updates/few.yaml",
        "seeds": 1,
        "rq2": {"domains": [3, 4]},
        "rq4": {"held_out": 4},
    }
    (config / "scales" / "mine.yaml").write_text(yaml.safe_dump(scale, sort_keys=False))
    return clone


@pytest.fixture(scope="module")
def finished(module_clone):
    done = prepared(module_clone, "climb").snakemake(
        "--cores", "1", "figures/main_results.pdf", scale="mine"
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return module_clone


def test_rounds_are_asked_for_stage_by_stage_and_none_after_the_removal(finished):
    results = finished.folder / "results" / "mine"
    asked = {path.stem for path in (results / "ask_round").glob("*.json")}
    # Only full recomputation, which is at the last stage, has rounds after the removal.
    assert asked == {f"main-{stage}-round{number}" for stage in STAGES for number in range(3)}
    runs = read_json(results / "ask_round" / "main-remove_java-round0.json")["models"]
    assert all(name.startswith("full_recomputation-") for name in runs)
    assert not list(results.glob("sample_stage/*"))
    assert not list(results.glob("collect_swarm/pool-*"))


def test_runs_are_those_that_the_figure_counts(finished):
    results = finished.folder / "results" / "mine"
    frame = pd.read_csv(finished.folder / "results" / "updates" / "main_results.csv")
    (counted,) = frame[frame["strategy"] == "full_mixture_reuse"]["proxy_runs"]
    trained = 0
    for folder in results.glob("collect_swarm/main-*-round*"):
        swarm = read_swarm(folder / "ratios.csv", folder / "metrics.csv")
        trained += sum(run.startswith(f"{REUSED}-") for run in swarm.runs)
    # 3.048, 1.524 and 0.762 runs for each of 4 weights, then of 3.
    assert trained == counted == (12 + 6 + 3) + (9 + 5 + 2)
    assert set(frame["strategy"]) == {
        "full_recomputation", "full_mixture_reuse", "partial_mixture_reuse",
    }  # fmt: skip


def test_every_run_keeps_the_ratios_of_the_mix_before(finished):
    results = finished.folder / "results" / "mine"
    domains = DomainSet.load(results / "build_domains" / "domains.json")
    sequence = load_updates(finished.folder / "config" / "updates" / "few.yaml", domains)
    before = read_mix(results / "update_mixes" / "main-initial" / f"{REUSED}.json")
    space = Collapse(sequence.stages()[1].domains, sequence.full_reuse("add_code"), before)
    after = read_mix(results / "update_mixes" / "main-add_code" / f"{REUSED}.json")
    folder = results / "collect_swarm" / "main-add_code-round1"
    swarm = read_swarm(folder / "ratios.csv", folder / "metrics.csv")
    runs = [row for row, run in enumerate(swarm.runs) if run.startswith(f"{REUSED}-")]
    for weights in [after.weights, *swarm.mixes[runs]]:
        inside = weights[: len(before.names)]
        assert inside / inside.sum() == pytest.approx(before.weights, abs=1e-6)
    assert after.names[: len(before.names)] == before.names
    assert len(space.names) == 3


def test_a_finished_sequence_has_nothing_to_do_and_another_method_answers_it_anew(finished):
    assert finished.planned("results/updates/", scale="mine") == {}
    prepared(finished, "unimax")
    jobs = finished.planned("results/updates/", scale="mine")
    assert jobs["update_mixes"] == len(STAGES)
    assert not {"ask_round", "sample_stage", "sample_swarm"} & set(jobs)


def test_an_online_system_is_refused_in_the_first_minute(clone):
    done = prepared(clone, "odm").snakemake("-n", "results/updates/", scale="mine")
    assert done.returncode
    said = " ".join((done.stdout + done.stderr).split())
    assert "method is 'odm', which is not offered in updates" in said
    assert "Traceback" not in said
