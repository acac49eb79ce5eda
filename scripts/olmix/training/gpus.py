"""GPUs of one's own: jobs on one machine share its GPUs by lock files, one per device.

Snakemake counts the GPUs that local jobs use but does not say which one is whose. SLURM does both:
a job that sees just the GPUs it asked for is left alone.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from olmix.errors import OlmixError
from olmix.training.launch import in_slurm

__all__ = ["own_gpus", "visible_gpus"]

PATIENCE = 1.0
"""Seconds between two looks for a free GPU."""


def visible_gpus() -> list[str]:
    """The identifiers of the GPUs this process may use, from nvidia-smi; none without it.

    Numbers in CUDA_VISIBLE_DEVICES are taken as nvidia-smi's.
    """
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return []
    gpus = dict(line.replace(" ", "").split(",", 1) for line in listed.stdout.splitlines() if line)
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return list(gpus.values())
    return [gpus.get(name, name) for name in allowed.replace(" ", "").split(",") if name]


@contextlib.contextmanager
def own_gpus(count: int) -> Iterator[int]:
    """Reserve ``count`` GPUs, or all if there are fewer, and yield their number.

    Waits until they are free. CUDA_VISIBLE_DEVICES then names them, so enter before torch is
    imported. The locks go with the process, or with the one it turns into. With a ``count`` of 0
    every GPU is hidden. In a SLURM job the number is ``count``, and GPUs are reserved only if more
    are to be seen, as when Snakemake itself runs in it.
    """
    gpus = visible_gpus() if count else []
    with contextlib.ExitStack() as until_then:
        if count == 0:
            until_then.enter_context(_visible([]))
        elif not in_slurm() or len(gpus) > count:
            count = min(count, len(gpus))
            if gpus:
                until_then.enter_context(_visible(_take(gpus, count, until_then)))
        yield count


@contextlib.contextmanager
def _visible(gpus: list[str]) -> Iterator[None]:
    """Show only these GPUs to CUDA."""
    before = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUDA_VISIBLE_DEVICES"]
        else:
            os.environ["CUDA_VISIBLE_DEVICES"] = before


def _take(gpus: list[str], count: int, locks: contextlib.ExitStack) -> list[str]:
    """Lock ``count`` of the GPUs, all at once, so that two jobs never wait for each other's."""
    folder, told = _folder(), False
    while True:
        with contextlib.ExitStack() as held:
            taken: list[str] = []
            for gpu in gpus:
                if len(taken) < count and (lock := _lock(folder / gpu)) is not None:
                    held.enter_context(lock)
                    taken.append(gpu)
            if len(taken) == count:
                locks.push(held.pop_all())
                return taken
        if not told:
            sys.stderr.write(f"waiting for {count} of {len(gpus)} GPUs to be free\n")
            told = True
        time.sleep(PATIENCE)


def _folder() -> Path:
    """Where this user's locks on this machine's GPUs are."""
    folder = Path(tempfile.gettempdir()) / f"olmix-gpus-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise OlmixError(f"{folder}: no place for the locks of GPUs ({error})") from error
    return folder


def _lock(path: Path) -> TextIO | None:
    """The open, locked file; None if another process holds it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    os.set_inheritable(file.fileno(), True)  # kept when this process turns into torchrun
    return file
