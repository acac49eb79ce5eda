"""Rows read ahead are the rows, and the thread reads while the caller works."""

import threading

import torch

from olmix.training.distributed import Processes
from olmix.training.read_ahead import ReadAhead
from olmix.training.run_data import run_data

CPU = torch.device("cpu")


def test_rows_read_ahead_are_those_of_the_step(corpus, settings):
    data = run_data(settings, corpus)
    for rank in range(2):
        team = Processes(CPU, rank, 2)
        ahead, plain = (ReadAhead(data, team, 2, ahead=early) for early in (True, False))
        # In order, again from a step in the middle as after a restart, and to the very end.
        for step in (0, 1, 2, 30, 31, 7, 38, 39):
            rows = torch.from_numpy(data.batch(0, 4 * 40))[4 * step + 2 * rank :][:2]
            assert torch.equal(ahead.rows(step), rows)
            assert torch.equal(plain.rows(step), rows)
        ahead.close()


def test_the_next_rows_are_read_by_a_thread_before_they_are_asked_for(corpus, settings):
    data, read = run_data(settings, corpus), []

    class Noted:
        def __len__(self):
            return len(data)

        def batch(self, step, size):
            read.append((step, threading.current_thread() is threading.main_thread()))
            return data.batch(step, size)

    batches = ReadAhead(Noted(), Processes(CPU), 4, ahead=True)
    for step in range(3):
        batches.rows(step)
    batches._next[1].result()
    assert read == [(0, True), (1, False), (2, False), (3, False)]
    batches.close()
