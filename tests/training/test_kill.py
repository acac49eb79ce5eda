"""SIGKILL at random moments: the run ends with the bytes of one that was never killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.torch import load_file

from olmix.__main__ import main
from olmix.files import read_json, write_json
from olmix.training.deadline import RESUME_ME

pytestmark = pytest.mark.slow

KILLS = 20


@pytest.fixture(scope="module")
def children():
    """Processes that start with torch already imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["olmix.training.swarm_runner", "olmix.commands.train"])
    return context


@pytest.fixture
def job(corpus, settings, tmp_path):
    """A run of 1000 steps, as commands."""
    long = settings.to_dict() | {"tokens": 1000 * 64, "max_repetition": 100}
    commands = {}
    for name in ("killed", "whole"):
        entry = {"folder": name, "corpus": str(corpus.root), "settings": long}
        write_json(tmp_path / f"{name}.json", [entry])
        commands[name] = ["train", "--runs", str(tmp_path / f"{name}.json")]
        commands[name] += ["--state", str(tmp_path / f"{name}.state")]
    return commands


def weights(folder):
    return {name: tensor.numpy().tobytes() for name, tensor in load_file(folder).items()}


def lock_time(state) -> int:
    """When a process last took hold of the run: it then resumes and trains."""
    return max((path.stat().st_mtime_ns for path in state.glob("*/.lock")), default=0)


def newest_step(state) -> int:
    """The last complete checkpoint; 0 if there is none."""
    records = state.glob("*/step-*.json")
    return max((int(path.stem.removeprefix("step-")) for path in records), default=0)


def wait_for_more(measure, state, before: int, alive) -> None:
    while measure(state) <= before:
        assert alive(), "the run ended before it was killed"
        time.sleep(0.001)


def test_twenty_kills(children, job, tmp_path):
    random = np.random.default_rng(0)
    state, run = tmp_path / "killed.state", tmp_path / "killed"
    steps_reached = []
    for number in range(KILLS):
        # Every fourth is killed while it starts, resumes or warms up; the others at some moment
        # of training, which half of the time is the writing of a checkpoint.
        measure = lock_time if number % 4 == 0 else newest_step
        before = measure(state)
        child = children.Process(target=main, args=([*job["killed"], "--checkpoint-steps", "2"],))
        child.start()
        wait_for_more(measure, state, before, child.is_alive)
        time.sleep(random.uniform(0, 0.1))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL, "the run is too short for the test"
        assert not (run / "run.json").exists()
        steps_reached.append(newest_step(state))
    assert steps_reached == sorted(steps_reached)
    assert len(set(steps_reached)) > KILLS / 2
    assert main(job["killed"]) == 0
    assert main(job["whole"]) == 0
    killed, whole = (tmp_path / name / "weights.safetensors" for name in ("killed", "whole"))
    assert weights(killed) == weights(whole)
    losses = [read_json(path.parent / "run.json")["losses"] for path in (killed, whole)]
    assert losses[0] == losses[1]
    assert list(state.iterdir()) == []


def test_sigterm_writes_a_checkpoint_and_asks_to_be_resumed(job, tmp_path):
    command = [sys.executable, "-m", "olmix", *job["killed"]]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    state = tmp_path / "killed.state"
    wait_for_more(lock_time, state, 0, lambda: child.poll() is None)
    time.sleep(0.3)
    child.send_signal(signal.SIGTERM)
    _, error = child.communicate(timeout=300)
    assert child.returncode == RESUME_ME
    assert "start it again to go on" in error
    assert len(list(state.glob("*/step-*.safetensors"))) == 1
