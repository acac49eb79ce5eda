"""Keeping a second run out of a folder that one is writing."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olmix.errors import OlmixError

__all__ = ["only_run"]


@contextmanager
def only_run(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends.

    If another process holds it: wait for that one to end, or refuse.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise OlmixError(f"{folder}: another run is writing here") from None
        yield
