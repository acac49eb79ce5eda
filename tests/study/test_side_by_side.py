"""The same function on many items, on several cores."""

import os

import pytest
from threadpoolctl import threadpool_info

from olmix.errors import OlmixError
from olmix.study.side_by_side import side_by_side


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_results_are_in_the_items_order_whatever_the_cores(cores):
    assert side_by_side(lambda item: item**2, [3, 1, 2], cores) == [9, 1, 4]


def test_several_cores_are_several_processes_of_one_thread_each():
    def where(_):
        return os.getpid(), max(pool["num_threads"] for pool in threadpool_info())

    found = side_by_side(where, [0, 1, 2, 3], 2)
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {1}


def test_a_mistake_in_a_process_is_said_here():
    def fails(item):
        raise OlmixError(f"no {item}")

    with pytest.raises(OlmixError, match="no a"):
        side_by_side(fails, ["a", "b"], 2)
