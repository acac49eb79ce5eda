"""The rows of a run's steps: the next ones are read and copied while a GPU works on these."""

from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from olmix.corpus.mixing import MixedData
from olmix.training.distributed import Processes

__all__ = ["ReadAhead"]


class ReadAhead:
    """This process's rows of each step, on its device.

    ``ahead`` reads in a thread; the mixes of the run must then be known from the start. A CPU that
    trains has no time to spare for it.
    """

    def __init__(self, data: MixedData, team: Processes, rows: int, *, ahead: bool) -> None:
        self.data, self.team, self.size = data, team, rows
        self._steps = len(data) // (rows * team.count)
        self._pool = ThreadPoolExecutor(1, "data", self._begin) if ahead else None
        self._next: tuple[int, Future[Tensor]] | None = None

    def _begin(self) -> None:
        """Memory is pinned for this process's GPU: a thread would begin with the first there is."""
        if self.team.device.type == "cuda":
            torch.cuda.set_device(self.team.device)

    def rows(self, step: int) -> Tensor:
        """The rows (rows, T) of a step."""
        if self._next is not None and self._next[0] == step:
            read = self._next[1].result()
        else:
            read = self._read(step)
        self._next = None
        if self._pool is not None and step + 1 < self._steps:
            self._next = (step + 1, self._pool.submit(self._read, step + 1))
        return read.to(self.team.device, non_blocking=True)

    def _read(self, step: int) -> Tensor:
        """The rows in memory that a GPU copies from by itself (pinned), where there is one."""
        batch = self.data.batch(step * self.team.count + self.team.rank, self.size)
        read = torch.from_numpy(batch)
        return read.pin_memory() if self.team.device.type == "cuda" else read

    def close(self) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
