"""`snakemake --profile slurm` on a real SLURM: what jobs ask for, and what survives trouble.

One story: the main figure of a shortened `smoke` scale is started, a training job is cancelled, the
process that submits is killed, all is started again as the README says, and SLURM requeues a job.
The tests look at what the scheduler recorded and at what is on disk.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from olmix.cost.compute import Machine, RunCost
from olmix.study.scale import load_scale

REPOSITORY = Path(__file__).resolve().parents[2]
SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")  # by its path: nothing is activated
FIGURE = "figures/main_results.pdf"
ENDING_WITH_THE_TEST = ("setpriv", "--pdeathsig", "KILL")
TRAINING = "rule_train_proxies_wildcards_"
# The test's cluster has no accounting, and jobs of seconds are not left alone for 40 of them.
HERE = (
    "--slurm-status-command", "squeue", "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "20",
)  # fmt: skip

pytestmark = pytest.mark.slow


def copy_of_repository(folder: Path) -> Path:
    """The repository's files with one more scale, `light`: `smoke` with a single update."""
    left_out = shutil.ignore_patterns(".*", "results", "figures", "tests", "__pycache__")
    shutil.copytree(REPOSITORY, folder, ignore=left_out)
    config = folder / "config"
    scale = yaml.safe_load((config / "scales" / "smoke.yaml").read_text())
    scale |= {"seeds": 1, "updates": "config/updates/light.yaml"}
    # Long enough to be interrupted; minutes that tell jobs of few runs from jobs of many.
    scale["models"]["30m"] |= {"tokens": 81920, "gpu": 1}
    scale["models"]["target"] |= {"gpu": 1}
    scale["hardware"] |= {"process_mb": 1500, "evaluation_minutes": 0.5}
    (config / "scales" / "light.yaml").write_text(yaml.safe_dump(scale, sort_keys=False))
    updates = yaml.safe_load((config / "updates" / "smoke.yaml").read_text())
    updates["initial"] = ["web:politics", "web:health", "code:python", "maths"]
    updates["updates"] = [{"name": "remove_maths", "remove": ["maths"]}]
    (config / "updates" / "light.yaml").write_text(yaml.safe_dump(updates))
    return folder


@dataclass(frozen=True)
class Run:
    """A finished run: the job that trained it and when it was written."""

    job: str | None
    written: int


def finished_runs(folder: Path) -> dict[str, Run]:
    found = {}
    for path in folder.glob("results/light/runs/*/run.json"):
        job = json.loads(path.read_text())["provenance"]["slurm_job"]
        found[path.parent.name] = Run(job and str(job), path.stat().st_mtime_ns)
    return found


@dataclass
class Story:
    """What happened, for the tests to judge."""

    folder: Path
    local: Path
    cancelled: str = ""
    requeued: str = ""
    at_cancel: dict[str, Run] = field(default_factory=dict)
    at_kill: dict[str, Run] = field(default_factory=dict)
    at_requeue: dict[str, Run] = field(default_factory=dict)
    records: list[dict[str, str]] = field(default_factory=list)

    def jobs(self, comment: str) -> list[dict[str, str]]:
        """The scheduler's records of jobs by their comment, which is rule and wildcards."""
        return [record for record in self.records if record["Comment"].startswith(comment)]


class Controller:
    """Snakemake in a copy of the repository, as a process of its own."""

    def __init__(self, cluster: Any, folder: Path, *arguments: str) -> None:
        self.cluster, self.folder = cluster, folder
        self.log = folder / "controller.log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [*ENDING_WITH_THE_TEST, SNAKEMAKE, *arguments, "--config", "scale=light"],
                cwd=folder,
                env=cluster.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, condition: Callable[[], Any], seconds: float = 600) -> Any:
        """The condition's value, as soon as it is true."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert self.process.poll() is None, self.log.read_text()[-5000:]
            assert time.monotonic() < end, f"waited too long: {self.log.read_text()[-5000:]}"
            time.sleep(0.5)
        return found

    def job_in_training(self, swarm: str) -> str:
        """The number of a running job of a swarm that has finished two runs of its own."""

        def found() -> str | None:
            queue = self.cluster.run("squeue", "--noheader", "--states=R", "--format=%i %k")
            trained = [run.job for run in finished_runs(self.folder).values()]
            for line in queue.splitlines():
                job, _, comment = line.strip().partition(" ")
                if comment == f"{TRAINING}{swarm}_0" and trained.count(job) >= 2:
                    return job
            return None

        return self.wait_for(found)

    def finish(self) -> None:
        """Wait for the end, which must be a good one."""
        status = self.process.wait(timeout=1800)
        assert status == 0, self.log.read_text()[-5000:]

    def kill(self) -> None:
        """End the process with no chance to tidy up."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def story(cluster, tmp_path_factory) -> Story:
    root = tmp_path_factory.mktemp("story")
    told = Story(copy_of_repository(root / "slurm"), copy_of_repository(root / "local"))
    command = ("--profile", "slurm", FIGURE, *HERE)
    local = Controller(cluster, told.local, FIGURE, "--cores", "1")
    controllers = [local]
    try:
        first = Controller(cluster, told.folder, *command)
        controllers.append(first)
        told.cancelled = first.job_in_training("pool-initial")
        cluster.run("scancel", told.cancelled)
        first.wait_for(lambda: told.cancelled not in cluster.run("squeue", "--format=%i").split())
        told.at_cancel = finished_runs(told.folder)
        first.job_in_training("pool-initial")  # the same work in a new job
        first.kill()
        # As the README says: what the lost process submitted is cancelled by its name.
        name = re.search(r"SLURM run ID: (\S+)", first.log.read_text())[1]
        cluster.run("scancel", f"--name={name}")
        while cluster.run("squeue", "--noheader").strip():
            time.sleep(0.2)
        told.at_kill = finished_runs(told.folder)
        Controller(cluster, told.folder, "--unlock").finish()
        second = Controller(cluster, told.folder, *command)
        controllers.append(second)
        told.requeued = second.job_in_training("pool-initial")
        cluster.run("scontrol", "requeue", told.requeued)
        told.at_requeue = finished_runs(told.folder)
        second.finish()
        told.records = cluster.records()
        local.finish()
    finally:
        for controller in controllers:
            controller.kill()
    return told


def minutes(limit: str) -> int:
    hours, minute, seconds = map(int, limit.split(":"))
    assert seconds == 0
    return 60 * hours + minute


def request(record: dict[str, str]) -> dict[str, int]:
    """What a job asked SLURM for."""
    gpus = re.fullmatch(r"gres:gpu:(\d+)", record.get("TresPerJob", "gres:gpu:0"))
    assert "TresPerNode" not in record
    return {
        "gpu": int(gpus[1]),
        "nodes": int(record["NumNodes"]),
        "threads": int(record["CPUs/Task"]),
        "mem_mb": int(re.fullmatch(r"(\d+)M", record["MinMemoryNode"])[1]),
        "runtime": minutes(record["TimeLimit"]),
    }


@pytest.mark.parametrize(
    ("swarm", "model"),
    [
        ("proxies_wildcards_pool-initial", "30m"),
        ("proxies_wildcards_main-remove_maths", "30m"),
        ("targets_wildcards_main-target", "target"),
    ],
)
def test_training_asks_for_what_the_scale_says(story, swarm, model):
    scale = load_scale(story.folder / "config" / "scales", "light")
    settings = scale.model(model)
    # As many as the plan has mixes: that two are equal, and one run, is not known when it asks.
    table = story.folder / "results/light/collect_swarm" / swarm.split("_wildcards_")[1]
    runs, points = len(pd.read_csv(table / "ratios.csv")), len(settings.get("evaluate_at", ()))
    cost = RunCost(model, settings, Machine.from_dict(scale["hardware"]))
    asked = cost.training_request(runs, 1 + points)
    jobs = story.jobs(f"rule_train_{swarm}_0")
    assert jobs
    for job in jobs:
        assert request(job) == {
            "gpu": 1, "nodes": 1, "threads": settings["threads"],
            "mem_mb": asked.mem_mb, "runtime": asked.runtime,
        }  # fmt: skip
    assert asked.runtime > scale["hardware"]["spare_minutes"]
    # Training has scored its runs: their scores are taken over where Snakemake runs.
    assert not story.jobs(f"rule_evaluate_{swarm}_0")


def test_fits_and_figures_ask_for_no_gpu(story):
    others = [r for r in story.records if not re.match("rule_train_", r["Comment"])]
    rules = {re.match(r"rule_(\w+?)(_wildcards|\s|$)", record["Comment"])[1] for record in others}
    # Rules of seconds are not submitted at all.
    assert rules == {"build_domains", "update_mixes", "updates"}
    for record in others:
        asked = request(record)
        assert (asked["gpu"], asked["nodes"], asked["threads"]) == (0, 1, 1)
        assert asked["mem_mb"] >= 1000


def test_cancelled_jobs_are_submitted_again(story):
    jobs = story.jobs(f"{TRAINING}pool-initial_0")
    # Cancelled by hand; cancelled after the controller's death; done.
    assert [job["JobState"] for job in jobs] == ["CANCELLED", "CANCELLED", "COMPLETED"]
    assert jobs[0]["JobId"] == story.cancelled


def test_a_requeued_job_ends_under_its_own_number(story):
    job = story.jobs(f"{TRAINING}pool-initial_0")[-1]
    assert (job["JobId"], job["Restarts"]) == (story.requeued, "1")


def test_no_finished_run_is_trained_twice(story):
    after = finished_runs(story.folder)
    for earlier in (story.at_cancel, story.at_kill, story.at_requeue):
        assert earlier
        assert {run: after[run] for run in earlier} == earlier
    assert len(story.at_cancel) < len(story.at_kill) < len(story.at_requeue) < len(after)
    # Every run knows its job, and the swarm cut short came from three of them.
    numbers = {record["JobId"] for record in story.jobs("rule_train_")}
    assert {run.job for run in after.values()} <= numbers
    pool = {record["JobId"] for record in story.jobs(f"{TRAINING}pool-initial_0")}
    assert len({run.job for run in after.values()} & pool) == 3


def test_results_are_those_of_a_local_run(story):
    assert (story.folder / FIGURE).stat().st_size > 0
    patterns = ("results/light/collect_swarm/*/*.csv", "results/light/update_mixes/*.csv")
    for pattern in (*patterns, "results/updates/*.csv"):
        names = sorted(path.relative_to(story.local) for path in story.local.glob(pattern))
        assert names == sorted(
            path.relative_to(story.folder) for path in story.folder.glob(pattern)
        )
        assert names
        for name in names:
            ours, theirs = pd.read_csv(story.folder / name), pd.read_csv(story.local / name)
            # The same machine and seeds give the same bytes.
            pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    assert finished_runs(story.folder).keys() == finished_runs(story.local).keys()


def test_nothing_is_left_to_do(story, cluster):
    again = Controller(cluster, story.folder, "--profile", "slurm", FIGURE, *HERE, "-n")
    again.finish()
    assert "Nothing to be done" in again.log.read_text()[-2000:]
