"""`snakemake --profile slurm` on a real SLURM: what jobs ask for, and what survives trouble.

One story: the main figure of a shortened `smoke` scale is started, a training job is cancelled, the
process that submits is killed, and all is started again as the README says. The tests look at what
the scheduler recorded and at what is on disk.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
FIGURE = "figures/main_results.pdf"
TRAINED = "train_proxies_wildcards_pool-initial_0"
# The test's cluster has no accounting, and nobody wants to wait 40 s for a status.
HERE = (
    "--slurm-status-command", "squeue", "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks", "7", "--latency-wait", "10",
)  # fmt: skip

pytestmark = pytest.mark.slow


def copy_of_repository(folder: Path) -> Path:
    """The repository's files with one more scale, `light`: `smoke` with a single update."""
    left_out = shutil.ignore_patterns(".*", "results", "figures", "tests", "__pycache__")
    shutil.copytree(REPOSITORY, folder, ignore=left_out)
    scale = yaml.safe_load((folder / "config" / "scales" / "smoke.yaml").read_text())
    scale |= {"seeds": 1, "updates": "config/updates/light.yaml"}
    # Long enough to be interrupted; requests that differ, so that they cannot be confused.
    scale["models"]["30m"] |= {"tokens": 61440, "gpu": 1, "mem_mb": 1500, "runtime": 20}
    scale["models"]["target"] |= {"gpu": 1, "mem_mb": 1800, "runtime": 25}
    (folder / "config" / "scales" / "light.yaml").write_text(yaml.safe_dump(scale, sort_keys=False))
    updates = yaml.safe_load((folder / "config" / "updates" / "smoke.yaml").read_text())
    updates["initial"] = ["web:politics", "web:health", "code:python", "maths"]
    updates["updates"] = [{"name": "remove_maths", "remove": ["maths"]}]
    (folder / "config" / "updates" / "light.yaml").write_text(yaml.safe_dump(updates))
    return folder


def finished_runs(folder: Path) -> dict[str, int]:
    """Finished runs and when they were written."""
    runs = folder.glob("results/light/runs/*/run.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in runs}


@dataclass
class Story:
    """What happened, for the tests to judge."""

    folder: Path
    local: Path
    records: list[dict[str, str]] = field(default_factory=list)
    cancelled: str = ""
    runs_at_cancel: dict[str, int] = field(default_factory=dict)
    runs_at_kill: dict[str, int] = field(default_factory=dict)
    checkpoints_at_cancel: list[str] = field(default_factory=list)

    def jobs(self, rule: str) -> list[dict[str, str]]:
        """The scheduler's records of a rule's jobs."""
        named = re.compile(rf"rule_{rule}(_wildcards_.*)?$")
        return [record for record in self.records if named.match(record["Comment"].strip())]


class Controller:
    """Snakemake in a clone, as a process of its own."""

    def __init__(self, cluster: Any, folder: Path, *arguments: str) -> None:
        self.log = folder / "controller.log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                ["snakemake", *arguments, "--config", "scale=light"],
                cwd=folder,
                env=cluster.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, condition: Callable[[], Any], seconds: float = 120) -> Any:
        """The condition's value, as soon as it is true."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert self.process.poll() is None, self.log.read_text()[-5000:]
            assert time.monotonic() < end, f"waited too long: {self.log.read_text()[-5000:]}"
            time.sleep(0.2)
        return found

    def finish(self) -> None:
        """Wait for the end, which must be a good one."""
        status = self.process.wait(timeout=600)
        assert status == 0, self.log.read_text()[-5000:]

    def kill(self) -> None:
        """End the process and its threads, with no chance to tidy up."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def story(cluster, tmp_path_factory) -> Story:
    root = tmp_path_factory.mktemp("story")
    told = Story(copy_of_repository(root / "slurm"), copy_of_repository(root / "local"))
    folder = told.folder
    local = Controller(cluster, told.local, FIGURE, "--cores", "1")
    first = Controller(cluster, folder, "--profile", "slurm", FIGURE, *HERE)
    try:
        interrupt(cluster, first, told)
        # As the README says: what the lost process submitted is cancelled by its name.
        name = re.search(r"SLURM run ID: (\S+)", first.log.read_text())[1]
        cluster.run("scancel", f"--name={name}")
        while cluster.run("squeue", "--noheader").strip():
            time.sleep(0.5)
        told.runs_at_kill = finished_runs(folder)
        Controller(cluster, folder, "--unlock").finish()
        second = Controller(cluster, folder, "--profile", "slurm", FIGURE, *HERE)
        second.finish()
        told.records = cluster.records()
        local.finish()
    finally:
        for controller in (local, first, second):
            controller.kill()
    return told


def interrupt(cluster: Any, first: Controller, told: Story) -> None:
    """Cancel the first training job after some runs; kill the controller after some more."""

    def training() -> list[str]:
        running = cluster.run("squeue", "--noheader", "--states=R", "--format=%i %k").splitlines()
        return [line.split()[0] for line in running if line.strip().endswith(TRAINED)]

    def runs() -> dict[str, int]:
        return finished_runs(told.folder)

    first.wait_for(lambda: len(runs()) >= 2)
    [told.cancelled] = training()
    cluster.run("scancel", told.cancelled)
    first.wait_for(lambda: told.cancelled not in training())
    first.wait_for(lambda: not cluster.run("squeue", "--noheader", "--states=CG").strip())
    told.runs_at_cancel = runs()
    told.checkpoints_at_cancel = [p.name for p in (told.folder / "results/light/state").iterdir()]
    first.wait_for(lambda: training() and len(runs()) >= len(told.runs_at_cancel) + 2)
    first.kill()


def test_story(story):
    print(story)
    print([(r["Comment"], r["JobState"]) for r in story.records])
    assert 0
