"""Two jobs that want the same run: one trains, the other waits, but not beyond its time limit."""

import errno
import signal
import subprocess
import sys
import threading
import time

import pytest
import torch

from olmix.corpus import lock
from olmix.files import read_json, write_json
from olmix.training import shared_run
from olmix.training.deadline import RESUME_ME, Deadline, RunStopped
from olmix.training.distributed import Processes
from olmix.training.shared_run import only_job
from olmix.training.swarm_runner import read_runs, run_all

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.01)
    monkeypatch.setattr(shared_run, "TIME_TO_LEAVE", 0.0)


@pytest.fixture
def job(corpus, settings, tmp_path):
    """A list of one run, its file, and the folder of its state."""
    entry = {"folder": "run", "corpus": str(corpus.root), "settings": settings.to_dict()}
    write_json(tmp_path / "runs.json", [entry])
    return tmp_path / "runs.json", tmp_path / "state" / settings.hash


def test_a_job_waits_for_its_turn(tmp_path):
    order = []

    def first() -> None:
        with only_job(tmp_path, Processes(CPU)):
            inside.set()
            time.sleep(0.2)
            order.append("first")

    inside, thread = threading.Event(), threading.Thread(target=first)
    thread.start()
    inside.wait()
    with only_job(tmp_path, Processes(CPU)):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_waiting_ends_with_the_time_limit(job):
    path, folder = job
    with lock.only_run(folder), pytest.raises(RunStopped, match="another job's run"):
        run_all(read_runs(path), folder.parent, Processes(CPU, deadline=Deadline(0.3)))
    assert not (path.parent / "run").exists()
    assert run_all(read_runs(path), folder.parent, Processes(CPU)) == []
    assert read_json(path.parent / "run" / "run.json")["steps"] == 40


@pytest.mark.slow
def test_sigterm_ends_the_waiting(job):
    path, folder = job
    command = [sys.executable, "-m", "olmix", "train", "--runs", str(path)]
    command += ["--state", str(folder.parent)]
    with lock.only_run(folder):
        touched = (folder / ".lock").stat().st_mtime_ns
        waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while (folder / ".lock").stat().st_mtime_ns == touched:  # opened by the other process
            assert waiting.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
        waiting.send_signal(signal.SIGTERM)
        _, error = waiting.communicate(timeout=20)
    assert waiting.returncode == RESUME_ME
    assert "waiting for another job's run" in error


@pytest.mark.parametrize("answer", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_without_locks_is_worked_on_with_a_warning(
    tmp_path, monkeypatch, caplog, answer
):
    def refuse(*_):
        raise OSError(answer, "no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    with only_job(tmp_path, Processes(CPU)):
        assert "no locks on this file system" in caplog.text
