"""A job in two processes under `torchrun`: its exit status, and what a signal leaves."""

import signal
import subprocess
import sys
import time

import pytest

from olmix.files import read_json, write_json
from olmix.training.deadline import RESUME_ME

pytestmark = pytest.mark.slow


@pytest.fixture
def command(corpus, settings, tmp_path):
    """The start of a run of 4000 steps in two processes."""
    long = settings.to_dict() | {"tokens": 4000 * 64, "max_repetition": 100}
    entry = {"folder": "run", "corpus": str(corpus.root), "settings": long}
    write_json(tmp_path / "runs.json", [entry])
    torchrun = [sys.executable, "-m", "olmix.training.torchrun", "--standalone"]
    job = ["-m", "olmix", "train", "--runs", str(tmp_path / "runs.json"), "--sharding", "all"]
    return [*torchrun, "--nproc-per-node", "2", *job, "--state", str(tmp_path / "state")]


def test_the_time_limit_and_the_end_are_told_to_whoever_started_it(command, tmp_path):
    stopped = subprocess.run([*command, "--time-limit", "0.1"], capture_output=True, text=True)
    assert stopped.returncode == RESUME_ME, stopped.stderr
    assert "start it again to go on" in stopped.stderr
    assert list(tmp_path.glob("state/*/step-1.safetensors"))
    wrong = subprocess.run([*command, "--batch-tokens", "many"], capture_output=True, text=True)
    assert wrong.returncode == 1


def test_sigterm_writes_a_checkpoint_first(command, tmp_path):
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("state/*/.lock")):
        assert child.poll() is None
        time.sleep(0.05)
    time.sleep(2)  # into the first steps
    child.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    _, error = child.communicate(timeout=300)
    assert child.returncode != 0
    assert time.monotonic() - begun < 25, error  # before torchrun, or SLURM, would kill it
    (record,) = tmp_path.glob("state/*/step-*.json")
    assert read_json(record)["sha256"]
    assert not (tmp_path / "run").exists()
