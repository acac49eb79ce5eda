"""One or many processes: who this one is, and the model spread over all of them.

`torchrun` starts the processes; every one reads its own rows of the same global batch, so a run
is the same computation for any number of them, up to rounding.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeGuard

import torch
import torch.distributed as dist
from torch import Tensor, nn

from olmix.errors import OlmixError
from olmix.model.transformer import Transformer
from olmix.training.deadline import Deadline

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

__all__ = ["LossOf", "Processes", "copy_into", "processes", "sharded", "synchronised", "whole"]

PATIENCE = timedelta(hours=2)
"""How long processes wait for one another: the first evaluates and writes while others wait."""


@dataclass(frozen=True)
class Processes:
    """This process among those of the run, and when they must be done."""

    device: torch.device
    rank: int = 0
    count: int = 1
    deadline: Deadline = field(default_factory=Deadline)

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.count > 1:
            dist.barrier()

    def mean(self, values: Tensor) -> Tensor:
        """The mean of ``values`` over the processes."""
        if self.count > 1:
            dist.all_reduce(values)
            values /= self.count
        return values

    def first_says(self, answer: int) -> int:
        """The first process's ``answer``, in every process."""
        if self.count == 1:
            return answer
        said = torch.tensor(answer, device=self.device)
        dist.broadcast(said, src=0)
        return int(said.item())


@contextlib.contextmanager
def processes(device: str = "auto", deadline: Deadline | None = None) -> Iterator[Processes]:
    """Join the other processes that `torchrun` started, if any, and leave them at the end."""
    deadline = deadline or Deadline()
    count = int(os.environ.get("WORLD_SIZE", "1"))
    place = _device(device)
    if count == 1:
        yield Processes(place, deadline=deadline)
        return
    if place.type == "cuda":
        torch.cuda.set_device(place)
    backend = "nccl" if place.type == "cuda" else "gloo"
    dist.init_process_group(backend, timeout=PATIENCE)
    try:
        yield Processes(place, dist.get_rank(), count, deadline)
    finally:
        dist.destroy_process_group()


def _device(name: str) -> torch.device:
    """The torch device called ``name``; ``auto`` is this process's GPU, or else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise OlmixError(f"device {name!r} cannot be used ({reason})") from error
    return torch.device(name)


class LossOf(nn.Module):
    """A model whose forward pass is its loss: what DDP and FSDP2 hook into."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, ids: Tensor, z_loss: float, weights: Tensor | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        """`Transformer.loss`; with weights of the predictions, `Transformer.token_losses`."""
        if weights is None:
            return self.model.loss(ids, z_loss)
        return self.model.token_losses(ids, z_loss, weights)


def synchronised(model: Transformer, team: Processes) -> nn.Module:
    """The loss of a model whose gradients are averaged over the processes (DDP)."""
    if team.count == 1:
        return LossOf(model)
    from torch.nn.parallel import DistributedDataParallel  # slow to import, as all below

    return DistributedDataParallel(LossOf(model))


def sharded(model: Transformer, team: Processes, *, bfloat16: bool) -> nn.Module:
    """The loss of a model whose weights are spread over the processes, layer by layer (FSDP2).

    With ``bfloat16``, weights are gathered in bfloat16; gradients are summed in float32.
    """
    if team.count == 1:
        raise OlmixError("a sharded run needs more than one process; start it with torchrun")
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    policy = MixedPrecisionPolicy()
    if bfloat16:
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    loss = LossOf(model)
    mesh = dist.init_device_mesh(team.device.type, (team.count,))
    for part in (*model.blocks, loss):
        fully_shard(part, mesh=mesh, mp_policy=policy)
    return loss


def whole(tensor: Tensor) -> Tensor:
    """A tensor gathered from its shards, or as it is; all processes must ask for it."""
    return tensor.full_tensor() if _is_sharded(tensor) else tensor


@torch.no_grad()
def copy_into(tensor: Tensor, value: Tensor) -> None:
    """Fill ``tensor`` from a whole ``value``: from this process's part of it if it is sharded."""
    if _is_sharded(tensor):
        from torch.distributed.tensor import distribute_tensor

        # Every process has read the whole value: each takes its own part, nothing is sent.
        value = distribute_tensor(
            value.to(tensor.device), tensor.device_mesh, tensor.placements, src_data_rank=None
        )
    tensor.copy_(value)


def _is_sharded(tensor: Tensor) -> "TypeGuard[DTensor]":
    """Whether FSDP2 made it a `DTensor`; asked this way, that class need not be imported."""
    return hasattr(tensor, "full_tensor")
