"""Files in batches over processes: small files together, so that no pool waits for its own work."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

__all__ = ["Batch", "batches_of", "end_with_parent", "file_size", "in_processes"]

BATCH_BYTES = 2**24
# What opening a file costs, in bytes read meanwhile.
FILE_BYTES = 2**12

Result = TypeVar("Result")


@dataclass(frozen=True)
class Batch:
    """Some files of a domain, in order; ``number`` counts the domain's batches."""

    domain: str
    number: int
    files: tuple[Path, ...]

    @property
    def bytes(self) -> int:
        """The size on disk of all the batch's files."""
        return sum(map(file_size, self.files))


def file_size(path: Path) -> int:
    """The size of a file; 0 for one that is not there, which is named when it is read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def batches_of(files: Mapping[str, list[Path]]) -> list[Batch]:
    """The files of all domains in batches, domain by domain."""
    return [batch for domain, paths in files.items() for batch in _batches(domain, paths)]


def _batches(domain: str, paths: list[Path]) -> Iterator[Batch]:
    waiting: list[Path] = []
    size = number = 0
    for path in paths:
        waiting.append(path)
        size += file_size(path) + FILE_BYTES
        if size >= BATCH_BYTES:
            yield Batch(domain, number, tuple(waiting))
            waiting, size, number = [], 0, number + 1
    if waiting:
        yield Batch(domain, number, tuple(waiting))


def in_processes(
    work: Callable[[Batch], Result],
    batches: list[Batch],
    processes: int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[Batch, Result]]:
    """Every batch with what ``work`` makes of it, in order; tells bytes read and bytes of all."""
    sizes = [batch.bytes for batch in batches]
    done = 0
    results = _results(work, batches, processes)
    for batch, size, result in zip(batches, sizes, results, strict=True):
        yield batch, result
        done += size
        on_progress(done, sum(sizes))


def _results(
    work: Callable[[Batch], Result], batches: list[Batch], processes: int
) -> Iterator[Result]:
    if processes == 1 or len(batches) < 2:
        yield from map(work, batches)
        return
    # Spawned, not forked: libraries in this process may have threads.
    context = multiprocessing.get_context("spawn")
    workers = min(processes, len(batches))
    with ProcessPoolExecutor(workers, context, initializer=end_with_parent) as pool:
        try:
            yield from pool.map(work, batches)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def end_with_parent() -> None:
    """See to it that this worker ends with the command that started it, even if that is killed."""
    threading.Thread(target=_wait_and_end, daemon=True).start()


def _wait_and_end() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
