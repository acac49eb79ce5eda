"""Snakemake called by its path: no environment is activated, no Python on PATH is the right one."""

import subprocess
import sys
from pathlib import Path

import pytest

from olmix.files import read_json

pytestmark = pytest.mark.slow

SNAKEMAKE = Path(sys.executable).parent / "snakemake"


def test_jobs_train_in_the_python_that_snakemake_runs_in(clone):
    target = "results/smoke/train_proxies/topics/0"
    command = [str(SNAKEMAKE), target, "--cores", "2", "--config", "scale=smoke"]
    done = subprocess.run(
        command,
        cwd=clone.folder,
        env=clone.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    runs = [read_json(path) for path in (clone.folder / target).rglob("run.json")]
    assert runs
    assert all(run["losses"] for run in runs)


def test_a_python_found_by_name_would_have_failed(clone):
    done = subprocess.run(["python"], env=clone.environment, capture_output=True, check=False)
    assert done.returncode == 97
