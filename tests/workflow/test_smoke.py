"""The smoke scale end to end from a clean tree: numbers, reruns, interruptions, failures."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest
import yaml

from olmix.claims.rules import NOT_MEASURED, VERDICTS
from olmix.files import read_json
from olmix.proposers.proposal import read_mix
from olmix.questions.catalogue import load_questions
from olmix.tables import read_swarm

pytestmark = pytest.mark.slow

QUESTIONS = [f"rq{number}" for number in range(1, 8)]


@pytest.fixture(scope="module")
def finished(module_clone):
    """A clone where the whole configuration study has run once."""
    done = module_clone.snakemake("--cores", "2")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return module_clone


def test_every_question_has_data_summary_and_provenance(finished):
    for question in QUESTIONS:
        folder = finished.folder / "results" / question
        assert list(folder.glob("*.csv")), question
        assert read_json(folder / "summary.json")["question"] == question
        provenance = read_json(folder / "provenance.json")
        assert provenance["scale"] == "smoke"
        assert (provenance["seeds"], provenance["target_repeats"]) == (2, 2)


def test_every_table_of_an_answer_can_be_asked_for_by_its_path(finished):
    asked = {name: question for name, question in load_questions().items() if not question.own_text}
    for name, question in asked.items():
        written = {path.stem for path in (finished.folder / "results" / name).glob("*.csv")}
        assert written == set(question.tables), name
    assert finished.planned("results/rq7/solvers.csv", "results/rq7/") == {}


def test_every_figure_is_there_as_pdf_and_png(finished):
    figures = finished.folder / "figures"
    pdfs = {path.stem for path in figures.glob("*.pdf")}
    assert pdfs == {path.stem for path in figures.glob("*.png")}
    assert {"proxy_size", "swarm_size", "solvers", "regression_models"} <= pdfs


def test_collected_swarm_holds_what_was_sampled_and_measured(finished):
    folder = finished.folder / "results" / "smoke"
    swarm = read_swarm(
        folder / "collect_swarm" / "topics" / "ratios.csv",
        folder / "collect_swarm" / "topics" / "metrics.csv",
    )
    sampled = pd.read_csv(folder / "sample_swarm" / "topics.csv").set_index("run")
    assert list(swarm.runs) == list(sampled.index)
    assert np.allclose(swarm.mixes, sampled[list(swarm.domains)], atol=1e-9)
    evaluation = folder / "evaluate_proxies" / "topics" / "0" / f"{swarm.runs[0]}.json"
    assert np.allclose(swarm.metrics[0], list(read_json(evaluation)["tasks"].values()))
    # BPB of a model that has learnt anything is below uniform guessing over 377 words.
    assert 0 < swarm.metrics.mean() < 3


def test_runs_were_trained_on_the_mix_that_was_asked_for(finished):
    runs = finished.folder / "results" / "smoke" / "train_proxies" / "topics" / "0"
    for path in sorted(runs.glob("*/run.json"))[:5]:
        record = read_json(path)
        for domain, share in record["mix"]["requested"].items():
            assert abs(record["mix"]["realised"][domain] - share) < 1e-3


def test_proposals_meet_their_caps_and_the_exact_solver_predicts_lowest(finished):
    proposals = finished.folder / "results" / "smoke" / "propose_mixes" / "rq7"
    for path in proposals.glob("*.json"):
        record = read_json(path)
        for name, weight in zip(record["domains"], record["weights"], strict=True):
            cap = record["caps"][name]
            assert cap is None or weight <= cap + 1e-9
    frame = pd.read_csv(finished.folder / "results" / "rq7" / "solvers.csv")
    for _, part in frame.groupby("level"):
        best = part.set_index("solver")["predicted_bpb"]
        assert best["exact"] <= best.min() + 1e-6


def test_every_mixing_method_is_trained_and_compared(finished):
    methods = finished.folder / "config" / "methods"
    frame = pd.read_csv(finished.folder / "results" / "methods" / "methods.csv")
    left_out = read_json(finished.folder / "results" / "methods" / "summary.json")["left_out"]
    assert set(left_out) <= {"ADMIRE-BayesOpt"}
    assert len(frame) == len(list(methods.glob("*.yaml"))) - len(left_out)
    assert (frame["repeats"] == 2).all()
    assert np.isfinite(frame[["gain", "gain_low", "proxy_runs", "gpu_hours_paper"]]).all().all()
    # Online ones move their mix along the run.
    for name in ("odm", "ado", "aioli", "skill_it"):
        runs = finished.folder / "results" / "smoke" / "train_targets" / f"{name}-target" / "0"
        schedule = read_json(next(runs.glob("*/run.json")))["schedule"]
        assert len({tuple(part["mix"].values()) for part in schedule}) > 2


def test_a_second_call_does_nothing(finished):
    assert finished.planned() == {}


def test_changing_one_setting_reruns_only_what_depends_on_it(finished):
    path = finished.folder / "config" / "scales" / "smoke.yaml"
    before = path.read_text()
    content = yaml.safe_load(before)
    content["rq6"]["factors"] = [2, 4, "inf"]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    try:
        jobs = finished.planned("results/rq6/", "figures/repetition_factor.pdf")
        assert set(jobs) <= {"fit_models", "propose_mixes", "list_runs", "train_targets",
                             "evaluate_targets", "collect_swarm", "rq6", "draw_figure"}  # fmt: skip
        assert jobs["propose_mixes"] == 1
        assert "train_proxies" not in jobs
    finally:
        path.write_text(before)


def test_changing_hardware_reruns_nothing(finished):
    path = finished.folder / "config" / "scales" / "smoke.yaml"
    before = path.read_text()
    content = yaml.safe_load(before)
    content["hardware"] |= {"process_mb": 4000, "safety": 5}
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    try:
        assert "train_proxies" not in finished.planned(
            "results/smoke/collect_swarm/topics/ratios.csv"
        )
    finally:
        path.write_text(before)


def test_another_world_is_made_again_and_a_remark_about_it_changes_nothing(finished):
    path = finished.folder / "config" / "world.yaml"
    before = path.read_text()
    target = "results/smoke/collect_swarm/topics/ratios.csv"
    try:
        path.write_text(f"# A remark.\n{before}")
        assert finished.planned(target) == {}
        path.write_text(before.replace("leak: 0.05", "leak: 0.06"))
        jobs = finished.planned(target)
        assert jobs["build_domains"] == jobs["sample_swarm"] == 1
        assert jobs["train_proxies"] > 0
    finally:
        path.write_text(before)


def test_the_scoreboard_judges_every_claim(finished):
    results = finished.folder / "results"
    board = pd.read_csv(results / "claims.csv")
    assert len(board) == 23
    assert set(board["verdict"]) <= set(VERDICTS)
    # The largest swarms of this scale have c = 2, so there is nothing to say about c = 3.
    assert board.set_index("id").loc["C02", "verdict"] == NOT_MEASURED
    kept = pd.read_csv(results / "smoke" / "verdicts.csv")
    assert kept["verdict"].tolist() == board["verdict"].tolist()
    assert (results / "claims.md").read_text().count("\n| C") == 23
    estimates = pd.read_csv(results / "claims_estimates.csv")
    assert set(estimates["id"]) == set(board["id"][board["verdict"] != NOT_MEASURED])


def finished_runs(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("runs/*/run.json")}


def test_a_swarm_killed_midway_keeps_its_finished_runs(clone):
    target = "results/smoke/collect_swarm/topics/ratios.csv"
    process = subprocess.Popen(
        clone.command("--cores", "1", target, "--config", "scale=smoke"),
        cwd=clone.folder,
        env=clone.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    results = clone.folder / "results" / "smoke"
    deadline = time.monotonic() + 240
    while len(finished_runs(results)) < 4 and time.monotonic() < deadline:
        assert process.poll() is None, "the swarm ended before it could be killed"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = finished_runs(results)
    assert 4 <= len(kept) < 14
    assert clone.snakemake("--unlock").returncode == 0
    done = clone.snakemake("--cores", "1", target)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    after = finished_runs(results)
    assert len(after) == 14
    assert {run: after[run] for run in kept} == kept


def test_a_failing_run_stops_only_what_depends_on_it(clone):
    path = clone.folder / "config" / "scales" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    # Topics fit easily; over sources, single mixes repeat small domains more than this.
    content["models"]["30m"]["max_repetition"] = 0.02
    content["models"]["15m"] |= {"max_repetition": 40}
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    good = "results/smoke/collect_swarm/rq1-15m/ratios.csv"
    bad = "results/smoke/collect_swarm/rq1/ratios.csv"
    done = clone.snakemake("--cores", "2", "--keep-going", good, bad)
    assert done.returncode != 0
    assert (clone.folder / good).is_file()
    assert not (clone.folder / bad).exists()
    log = clone.folder / "results" / "smoke" / "logs" / "train_proxies" / "rq1" / "0.log"
    assert str(log.relative_to(clone.folder)) in done.stdout + done.stderr
    assert "repe" in log.read_text()


def test_mixes_of_one_study_are_valid(finished):
    table = pd.read_csv(finished.folder / "results" / "smoke" / "propose_mixes" / "rq4.csv")
    weights = table.drop(columns=["run", "name", "index"]).to_numpy()
    assert np.allclose(weights.sum(1), 1)
    folder = finished.folder / "results" / "smoke" / "propose_mixes" / "rq4"
    assert json.loads((folder / "topics-log_linear.json").read_text())["status"] == "optimal"
    assert len(read_mix(folder / "topics-log_linear.json")) == 4


def test_verdicts_of_a_repetition_are_read_where_there_are_any(finished):
    """The last test: it leaves a repetition of the smoke scale behind."""
    path = finished.folder / "config" / "claims.yaml"
    content = yaml.safe_load(path.read_text())
    content["repetitions"]["smoke"] = ["other"]
    path.write_text(yaml.safe_dump(content, sort_keys=False))

    def column() -> set[str]:
        done = finished.snakemake("--cores", "1", "claims")
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return set(pd.read_csv(finished.folder / "results" / "claims.csv")["other"])

    assert column() == {"not run: snakemake claims --config scale=other"}
    own = finished.folder / "results" / "smoke" / "verdicts.csv"
    other = finished.folder / "results" / "other" / "verdicts.csv"
    other.parent.mkdir()
    other.write_bytes(own.read_bytes())
    assert finished.planned("claims") == {"claims": 1}
    assert column() == {"same"}
    other.unlink()
    assert finished.planned("claims") == {"claims": 1}
