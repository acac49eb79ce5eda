"""Several processes of a command on this machine, as `torchrun` starts them."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def olmix_processes() -> Callable[..., None]:
    """``run(4, ["preflight", ...], on_node=2)``: `python -m olmix` in four processes."""

    def run(count: int, arguments: list[str], on_node: int) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "WORLD_SIZE": str(count),
            "LOCAL_WORLD_SIZE": str(on_node),
        }
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "olmix", *arguments],
                env=environment | {"RANK": str(rank), "LOCAL_RANK": str(rank % on_node)},
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(count)
        ]
        errors = [process.communicate(timeout=300)[1] for process in started]
        assert not any(process.returncode for process in started), "".join(errors)

    return run
