"""The commands that start a training job, and its time limit, without starting any."""

import socket
import sys

import pytest

from olmix.errors import OlmixError
from olmix.training.launch import Start, launch_command, started, time_limit

SLURM = {"SLURM_JOB_ID": "4711"}
JOB = ["train", "--runs", "runs.json"]


@pytest.mark.parametrize("environment", [{}, SLURM], ids=["local", "slurm"])
@pytest.mark.parametrize("processes", [0, 1])
def test_one_process_starts_as_it_is(processes, environment):
    assert launch_command(Start(processes=processes), JOB, environment) is None


@pytest.mark.parametrize("environment", [{}, SLURM], ids=["local", "slurm"])
def test_several_gpus_of_one_machine_are_started_by_torchrun(environment):
    command = launch_command(Start(processes=4), JOB, environment)
    assert command[:3] == [sys.executable, "-m", "olmix.training.torchrun"]
    assert command[3:6] == ["--nproc-per-node", "4", "--standalone"]
    assert command[6:] == ["-m", "olmix", *JOB]


def test_several_nodes_are_started_by_srun():
    command = launch_command(Start(nodes=4, processes=8, cpus=16), JOB, SLURM)
    split = command.index(sys.executable)
    assert command[:split] == [
        *("srun", "--nodes=4", "--ntasks=4", "--ntasks-per-node=1"),
        *("--cpus-per-task=16", "--kill-on-bad-exit=1"),
    ]
    assert command[-5:] == ["-m", "olmix", *JOB]
    pairs = command[split + 3 : -5]
    options = dict(zip(pairs[::2], pairs[1::2], strict=True))
    host, port = options.pop("--rdzv-endpoint").rsplit(":", 1)
    assert host == socket.gethostname()
    assert 1024 <= int(port) < 65536
    assert options == {
        "--nproc-per-node": "8",
        "--nnodes": "4",
        "--rdzv-backend": "c10d",
        "--rdzv-id": "4711",
    }


def test_two_jobs_of_one_node_meet_at_different_ports():
    with socket.socket() as first:
        command = launch_command(Start(nodes=2, processes=1), JOB, SLURM)
        first.bind(("", int(command[command.index("--rdzv-endpoint") + 1].rsplit(":")[1])))
        other = launch_command(Start(nodes=2, processes=1), JOB, SLURM)
    assert command != other


def test_several_nodes_without_slurm_are_refused_in_one_line():
    with pytest.raises(OlmixError, match="4 nodes are asked for outside a SLURM job") as refused:
        launch_command(Start(nodes=4, processes=8), JOB, {})
    assert "\n" not in str(refused.value)
    assert "--profile slurm" in str(refused.value)


def test_a_process_of_torchrun_starts_no_others():
    assert started({"WORLD_SIZE": "8"})
    assert not started(SLURM)


def test_the_time_limit_is_slurms_with_some_to_spare():
    assert time_limit(10, SLURM) == 480  # a fifth of ten minutes
    assert time_limit(2880, SLURM) == 2880 * 60 - 300  # five minutes of two days
    assert time_limit(10, {}) is None
    assert time_limit(None, SLURM) is None
