"""Keeping a second run out of a folder that one is writing."""

import errno
import fcntl
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from olmix.errors import OlmixError

__all__ = ["only_run"]

PATIENCE = 1.0
"""Seconds between two looks at a lock that another process holds."""

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
"""What file systems without locks answer; the last is NFS's word where no server keeps them."""

logger = logging.getLogger(__name__)


@contextmanager
def only_run(folder: Path, *, while_waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the folder's lock; it goes with the process, however that ends.

    If another process holds it: wait for that one to end, calling ``while_waiting`` now and then,
    which may raise to give up; or, without it, refuse.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        while not _locked(lock, folder):
            if while_waiting is None:
                raise OlmixError(f"{folder}: another run is writing here")
            while_waiting()
            time.sleep(PATIENCE)
        yield


def _locked(lock: TextIO, folder: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        # Some cluster file systems are mounted without locks. Better twice than not at all: files
        # are written whole, and both would write the same.
        logger.warning("%s: no locks on this file system, nobody is kept out", folder)
    return True
