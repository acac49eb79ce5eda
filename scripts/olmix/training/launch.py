"""How a training job starts: as it is, in several processes by `torchrun`, or by `srun torchrun`.

Knows no torch, which takes seconds to import and whose first look at the GPUs is final.
"""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from olmix.errors import OlmixError

__all__ = ["Start", "check_nodes", "in_slurm", "launch_command", "started", "time_limit"]

SPARE_SHARE, SPARE_MOST = 0.2, 300.0
"""Of a job's time limit this share, but at most so many seconds, is left to start and to end."""


@dataclass(frozen=True)
class Start:
    """What a job may use: nodes, and on each of them processes (one per GPU) and CPUs."""

    nodes: int = 1
    processes: int = 0
    cpus: int = 1


def in_slurm(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a SLURM job, with GPUs and a time limit of its own."""
    return "SLURM_JOB_ID" in environment


def started(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether `torchrun` has started this process already."""
    return "WORLD_SIZE" in environment


def time_limit(minutes: float | None, environment: Mapping[str, str] = os.environ) -> float | None:
    """Seconds a job may train if it asked SLURM for ``minutes``; elsewhere nobody will stop it."""
    if minutes is None or not in_slurm(environment):
        return None
    seconds = 60 * minutes
    return seconds - min(SPARE_SHARE * seconds, SPARE_MOST)


def check_nodes(nodes: int, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse several nodes where nothing can give them."""
    if nodes > 1 and not in_slurm(environment):
        raise OlmixError(
            f"{nodes} nodes are asked for outside a SLURM job; use `--profile slurm`, or "
            "`--profile profiles/gpu` to train on this machine's GPUs alone"
        )


def launch_command(
    start: Start, arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """The command that runs ``olmix ARGUMENTS`` in all processes; None if this one is enough.

    Several nodes need the srun of a SLURM job. The processes meet on this machine, which is the
    job's first node, at a port that is free now.
    """
    if start.nodes == 1 and start.processes <= 1:
        return None
    torchrun = [sys.executable, "-m", "olmix.training.torchrun"]
    torchrun += ["--nproc-per-node", str(max(1, start.processes))]
    job = ["-m", "olmix", *arguments]
    if start.nodes == 1:
        return [*torchrun, "--standalone", *job]
    check_nodes(start.nodes, environment)
    nodes = str(start.nodes)
    # srun knows nothing of what the job asked for but the allocation: it is told again.
    srun = ["srun", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"]
    srun += [f"--cpus-per-task={start.cpus}", "--kill-on-bad-exit=1"]
    meeting = ["--nnodes", nodes, "--rdzv-backend", "c10d"]
    meeting += ["--rdzv-id", environment["SLURM_JOB_ID"]]
    meeting += ["--rdzv-endpoint", f"{socket.gethostname()}:{_free_port()}"]
    return [*srun, *torchrun, *meeting, *job]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]
