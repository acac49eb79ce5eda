"""Several cores for the work of one job: the same function on many items, in forked processes."""

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

__all__ = ["side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    function: Callable[[Item], Result], items: Sequence[Item], cores: int
) -> list[Result]:
    """``function`` of every item, in the items' order, the same whatever the number of cores.

    The processes are forks, so that they share what the function knows, and every one of them
    calculates on one core.
    """
    with threadpool_limits(1):
        if min(cores, len(items)) < 2:
            return [function(item) for item in items]
        processes = min(cores, len(items))
        fork = multiprocessing.get_context("fork")
        with fork.Pool(processes, _take, (function,)) as pool:
            return list(pool.imap(_call, items))


def _take(function: Callable[[Any], Any]) -> None:
    """Keep what a process calls: handed over by the fork, it need not be copied."""
    global _function
    _function = function


def _call(item: Any) -> Any:
    return _function(item)


_function: Callable[[Any], Any]
