"""When a job must be over, and the way a run says that it wants to be resumed."""

import math
import time

__all__ = ["RESUME_ME", "Deadline", "RunStopped"]

RESUME_ME = 75
"""Exit status of a job that stopped in time and wants to be started again (EX_TEMPFAIL)."""


class RunStopped(Exception):  # noqa: N818  (nothing went wrong)
    """The run wrote its checkpoint and stopped before the time limit."""


class Deadline:
    """A time limit counted from now; none by default."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    def expire(self) -> None:
        """Move the end to now, as when the system announces that it will stop the job."""
        self._end = -math.inf

    def allows(self, seconds: float) -> bool:
        """Whether ``seconds`` more still fit."""
        return time.monotonic() + seconds <= self._end
