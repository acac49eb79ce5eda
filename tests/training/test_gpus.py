"""GPUs of one's own, on a machine whose nvidia-smi is made up."""

import os
import subprocess
import sys
import time

import pytest

from olmix.training import gpus
from olmix.training.gpus import own_gpus, visible_gpus

UUIDS = [f"GPU-{letter * 8}" for letter in "abcd"]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with four GPUs, and locks of its own."""
    listing = "".join(f"echo '{number}, {uuid}'\n" for number, uuid in enumerate(UUIDS))
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{listing}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr(gpus, "PATIENCE", 0.02)


def shown() -> list[str]:
    return os.environ["CUDA_VISIBLE_DEVICES"].split(",")


def test_the_machines_gpus_or_those_that_are_left_to_us(machine, monkeypatch):
    assert visible_gpus() == UUIDS
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", f"3, 1,{UUIDS[0]}")
    assert visible_gpus() == [UUIDS[3], UUIDS[1], UUIDS[0]]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == []


def test_jobs_get_different_gpus_and_give_them_back(machine, monkeypatch):
    with own_gpus(1) as first:
        assert (first, shown()) == (1, UUIDS[:1])
        with monkeypatch.context() as another_job:
            another_job.delenv("CUDA_VISIBLE_DEVICES")
            with own_gpus(2) as second:
                assert (second, shown()) == (2, UUIDS[1:3])
    with own_gpus(4) as all_of_them:
        assert (all_of_them, shown()) == (4, UUIDS)
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_a_job_that_asks_for_more_gets_what_there_is(machine):
    with own_gpus(32) as count:
        assert (count, shown()) == (4, UUIDS)


def test_no_gpus_are_asked_for_and_none_are_seen(machine):
    with own_gpus(0) as count:
        assert (count, os.environ["CUDA_VISIBLE_DEVICES"]) == (0, "")


def test_slurm_has_chosen_already(machine, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    with own_gpus(1) as count:
        assert (count, shown()) == (1, ["3"])


def test_jobs_within_one_slurm_job_share_its_gpus(machine, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    with own_gpus(1), monkeypatch.context() as another_job:
        assert shown() == UUIDS[2:3]
        another_job.setenv("CUDA_VISIBLE_DEVICES", "2,3")
        with own_gpus(1):
            assert shown() == UUIDS[3:]


def test_a_machine_without_gpus_is_left_as_it_is(machine, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with own_gpus(8) as count:
        assert count == 0
        assert "CUDA_VISIBLE_DEVICES" not in os.environ
    monkeypatch.setenv("SLURM_JOB_ID", "1")  # which has granted eight, whatever can be listed
    with own_gpus(8) as count:
        assert count == 8


HOLD = """
import os, sys, time
from olmix.training.gpus import own_gpus
with own_gpus(int(sys.argv[1])):
    if len(sys.argv) > 2:  # turn into another program, as into torchrun
        os.execvp("sh", ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES; read line"])
    print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    sys.stdin.readline()
"""


def hold(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@pytest.mark.parametrize("turns_into", [(), ("sh",)], ids=["python", "exec"])
def test_gpus_are_held_as_long_as_the_process_lives(machine, turns_into):
    with hold("3", *turns_into) as holder:
        assert holder.stdout.readline().strip().split(",") == UUIDS[:3]
        with hold("2") as waiting:
            with own_gpus(1):  # the fourth is free, whoever waits for two
                assert shown() == UUIDS[3:]
            time.sleep(0.3)
            assert waiting.poll() is None
            holder.kill()
            holder.wait()
            assert len(waiting.stdout.readline().strip().split(",")) == 2
            waiting.communicate("\n", timeout=10)
