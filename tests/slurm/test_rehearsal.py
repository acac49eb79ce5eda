"""The paper's scale in miniature on a real SLURM: from text files to the main figure.

One story: nothing is prepared, the figure is asked for, the process that submits and a training job
are killed in the middle, and all is started again as docs/cluster.md says.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")
FIGURE = "figures/main_results.pdf"
RESULTS = Path("results") / "rehearsal"
ENDING_WITH_THE_TEST = ("setpriv", "--pdeathsig", "KILL")
# The test's cluster has no accounting, and jobs of seconds are not left alone for 40 of them.
HERE = (
    "--slurm-status-command", "squeue", "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "20",
)  # fmt: skip
MINUTES = 60  # a machine may be busy; an idle one with two cores needs less than 20

pytestmark = pytest.mark.slow


@dataclass
class Story:
    """What happened, for the tests to judge."""

    folder: Path
    seconds: float = 0.0
    at_kill: dict[str, int] = field(default_factory=dict)
    files_at_kill: dict[str, int] = field(default_factory=dict)
    first_log: str = ""


def start(cluster: Any, folder: Path, *arguments: str) -> subprocess.Popen:
    with (folder / "controller.log").open("a") as log:
        return subprocess.Popen(
            [*ENDING_WITH_THE_TEST, SNAKEMAKE, *arguments, "--config", "scale=rehearsal"],
            cwd=folder, env=cluster.environment, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip


def told(folder: Path) -> str:
    return (folder / "controller.log").read_text()


def finish(process: subprocess.Popen, folder: Path) -> None:
    assert process.wait(timeout=60 * MINUTES) == 0, told(folder)[-5000:]


def finished_runs(folder: Path) -> dict[str, int]:
    """Finished runs, and when they were written."""
    found = (folder / RESULTS / "runs").glob("*/run.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in found}


def fetched_files(folder: Path) -> dict[str, int]:
    """Downloaded files and tokens, and when they were written."""
    data = folder / "data" / "rehearsal"
    found = [path for name in ("downloads", "shards") for path in (data / name).rglob("*.*")]
    return {
        str(path): path.stat().st_mtime_ns
        for path in found
        if path.suffix in (".zst", ".gz", ".parquet", ".npy", ".bin")
    }


@pytest.fixture(scope="module")
def story(cluster, tmp_path_factory) -> Story:
    folder = tmp_path_factory.mktemp("rehearsal") / "clone"
    left_out = shutil.ignore_patterns(".*", "results", "figures", "data", "tests", "__pycache__")
    shutil.copytree(REPOSITORY, folder, ignore=left_out)
    command = ("--profile", "slurm", FIGURE, *HERE)
    story, began = Story(folder), time.monotonic()
    process = start(cluster, folder, *command)
    try:
        end = began + 60 * MINUTES
        while len(finished_runs(folder)) < 40:
            assert process.poll() is None, told(folder)[-5000:]
            assert time.monotonic() < end, told(folder)[-5000:]
            time.sleep(0.5)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        jobs = cluster.run("squeue", "--noheader", "--format=%i").split()
        cluster.run("scancel", *jobs, check=False)
        while cluster.run("squeue", "--noheader", "--format=%i").split():
            time.sleep(0.5)
        story.at_kill, story.files_at_kill = finished_runs(folder), fetched_files(folder)
        story.first_log = told(folder)
        finish(start(cluster, folder, "--unlock"), folder)
        process = start(cluster, folder, *command)
        finish(process, folder)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    story.seconds = time.monotonic() - began
    print(f"rehearsal: {story.seconds / 60:.1f} minutes")
    return story


def test_a_fresh_clone_ends_with_the_main_figure(story):
    assert (story.folder / FIGURE).read_bytes().startswith(b"%PDF")
    summary = json.loads((story.folder / "results" / "updates" / "summary.json").read_text())
    assert {entry["strategy"] for entry in summary["strategies"].values()} == {
        "full_recomputation", "swarm_reuse", "full_mixture_reuse", "partial_mixture_reuse"
    }  # fmt: skip


def test_it_says_at_once_where_its_text_comes_from(story):
    assert "Data plan: nothing is downloaded" in story.first_log.partition("Finished jobid")[0]


def test_every_domain_and_the_former_version_is_tokenised(story):
    corpus = story.folder / "data" / "rehearsal" / "corpus"
    assert len(list(corpus.glob("*/manifest.json"))) == 65 + 1, "pdf@1 beside the 64 and one more"
    evaluations = (story.folder / RESULTS / "evaluate_targets").rglob("*.json")
    tasks = json.loads(next(iter(evaluations)).read_text())["tasks"]
    assert len(tasks) == 52


def test_nothing_is_fetched_tokenised_or_trained_twice(story):
    runs, files = finished_runs(story.folder), fetched_files(story.folder)
    assert story.at_kill.items() <= runs.items()
    assert story.files_at_kill.items() <= files.items()
    assert len(runs) > len(story.at_kill) >= 40


def test_jobs_went_through_the_scheduler(story, cluster):
    comments = [record["Comment"] for record in cluster.records()]
    # Scores are taken over where Snakemake runs: the jobs that train have made them.
    for rule in ("download_source", "tokenize_source", "build_domains", "train_proxies",
                 "train_targets", "updates"):  # fmt: skip
        assert any(comment.startswith(f"rule_{rule}") for comment in comments), rule
