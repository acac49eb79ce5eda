"""A run that several jobs want: one trains it, the others wait and then find it finished."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from olmix.corpus.lock import only_run
from olmix.training.deadline import RunStopped
from olmix.training.distributed import Processes

__all__ = ["only_job"]

TIME_TO_LEAVE = 5.0
"""Seconds before its end at which a job gives up waiting."""

GO, WAIT, STOP = range(3)


@contextlib.contextmanager
def only_job(folder: Path, team: Processes) -> Iterator[None]:
    """Keep other jobs out of the run of ``folder``; wait for one that is in, while time allows.

    The first process holds the lock and keeps the others informed. `RunStopped` is raised in all
    of them when the team's deadline comes first.
    """

    def hear(answer: int = GO) -> int:
        if (answer := team.first_says(answer)) == STOP:
            raise RunStopped("stopped before the time limit, waiting for another job's run")
        return answer

    def keep_waiting() -> None:
        hear(WAIT if team.deadline.allows(TIME_TO_LEAVE) else STOP)

    if team.first:
        with only_run(folder, while_waiting=keep_waiting):
            hear(GO)
            yield
    else:
        while hear() == WAIT:
            pass
        yield
