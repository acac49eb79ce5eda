"""What one of several processes does when it, or another one, is not where the others are."""

import dataclasses

import pytest
import torch
import torch.distributed as dist

from olmix.errors import OlmixError
from olmix.training.checkpoint import CheckpointFolder
from olmix.training.deadline import Deadline, RunStopped
from olmix.training.distributed import Processes, processes
from olmix.training.run_data import run_data
from olmix.training.settings import Hardware
from olmix.training.trainer import Trainer, train_run

CPU = torch.device("cpu")


@dataclasses.dataclass(frozen=True)
class Told(Processes):
    """A process other than the first, which says ``said``."""

    said: int = 0

    def first_says(self, answer: int) -> int:
        return self.said


@pytest.fixture
def left(monkeypatch) -> list[str]:
    """Two processes, of which this is one; what it does to its group."""
    done: list[str] = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(dist, "init_process_group", lambda *_, **__: done.append("joined"))
    monkeypatch.setattr(dist, "destroy_process_group", lambda: done.append("left"))
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    return done


def test_processes_leave_together(left):
    with processes("cpu") as team:
        assert (team.rank, team.count, team.first) == (1, 2, False)
    assert left == ["joined", "left"]


def test_a_process_that_fails_waits_for_no_other(left):
    """NCCL would keep it, and torchrun, which ends the others, would not learn of its failure."""
    with pytest.raises(OlmixError, match="the disk is full"), processes("cpu"):
        raise OlmixError("the disk is full")
    assert left == ["joined"]


def test_every_process_resumes_where_the_first_does(corpus, settings, tmp_path):
    """A node may see a file late: each by itself, they would go on from different steps."""
    state = tmp_path / "state"
    stopped = Processes(CPU, deadline=Deadline(0.0))
    for _ in range(2):
        with pytest.raises(RunStopped):
            train_run(settings, corpus, tmp_path / "run", state, team=stopped)
    checkpoints = CheckpointFolder(state, settings.hash)
    assert checkpoints.steps() == [1, 2]
    data = run_data(settings, corpus)
    for said, resumed in ((1, 1), (2, 2), (-1, 0)):
        team = Told(CPU, rank=1, said=said)
        trainer = Trainer(settings, data, Hardware(), team, checkpoints)
        assert trainer.step == resumed
        trainer.close()
