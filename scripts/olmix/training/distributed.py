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

__all__ = [
    "LossOf",
    "Processes",
    "copy_into",
    "processes",
    "sharded",
    "synchronised",
    "whole",
    "whole_model",
]

PATIENCE = timedelta(minutes=30)
"""How long processes wait for one another, as when the first one checks a whole checkpoint."""


@dataclass(frozen=True)
class Processes:
    """This process among those of the run, and when they must be done."""

    device: torch.device
    rank: int = 0
    count: int = 1
    deadline: Deadline = field(default_factory=Deadline)
    on_node: int = 1
    """How many of them are on this node, as on every other."""

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

    def sum(self, values: Tensor) -> Tensor:
        """The sum of ``values`` over the processes, where they were."""
        if self.count == 1:
            return values
        sent = values.to(self.device)
        dist.all_reduce(sent)
        return sent.to(values.device)

    def largest(self, number: int) -> int:
        """The largest of the processes' numbers, in every process."""
        if self.count == 1:
            return number
        said = torch.tensor(number, device=self.device)
        dist.all_reduce(said, dist.ReduceOp.MAX)
        return int(said.item())

    def first_says(self, answer: int) -> int:
        """The first process's ``answer``, in every process."""
        if self.count == 1:
            return answer
        said = torch.tensor(answer, device=self.device)
        dist.broadcast(said, src=0)
        return int(said.item())


@contextlib.contextmanager
def processes(device: str = "auto", deadline: Deadline | None = None) -> Iterator[Processes]:
    """Join the other processes that `torchrun` started, if any, and leave them at the end.

    A process that fails does not take its leave: NCCL would wait for the others, which are in the
    middle of an exchange. It just ends, and torchrun then ends the others.
    """
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
    on_node = int(os.environ.get("LOCAL_WORLD_SIZE", count))
    yield Processes(place, dist.get_rank(), count, deadline, on_node)
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

    # The rotary table is the same everywhere: nothing to send at every step.
    return DistributedDataParallel(LossOf(model), broadcast_buffers=False)


def sharded(
    model: Transformer, team: Processes, shards: int, *, bfloat16: bool, kept: bool = False
) -> nn.Module:
    """The loss of a model whose weights are spread over processes, layer by layer (FSDP2).

    ``shards`` neighbours share the weights; where there are more processes, each such group holds
    a copy. With ``bfloat16``, weights are gathered in bfloat16; gradients are summed in float32.
    ``kept`` weights are not gathered again for the backward pass.
    """
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    # Inputs stay as they are: rotary positions, the residual stream and the shares of tokens in
    # the loss would otherwise be rounded to bfloat16 at every layer.
    policy = MixedPrecisionPolicy(cast_forward_inputs=False)
    if bfloat16:
        policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32, cast_forward_inputs=False
        )
    loss = LossOf(model)
    groups = (team.count // shards, shards) if shards < team.count else (shards,)
    names = ("copies", "shards")[-len(groups) :]
    mesh = dist.init_device_mesh(team.device.type, groups, mesh_dim_names=names)
    for part in (*model.blocks, loss):
        released = not kept and part is not loss  # the last layer's is needed again at once
        fully_shard(part, mesh=mesh, mp_policy=policy, reshard_after_forward=released)
    return loss


@torch.no_grad()
def whole_model(model: Transformer, *, bfloat16: bool) -> Transformer:
    """The model to be evaluated in every process: gathered if it is sharded, and not compiled.

    Compiled layers would be compiled again for the lengths of every batch. With ``bfloat16``
    matrices are gathered and kept in it: half the bytes of float32. A plain model is returned
    as it is.
    """
    parameters = dict(model.named_parameters())
    plain = not any(_is_sharded(parameter) for parameter in parameters.values())
    if plain and model.compiled_slice is None:
        return model
    with torch.device("meta"):
        gathered = Transformer(model.shape)
    narrow = torch.bfloat16 if bfloat16 else torch.float32
    tensors = {}
    for name, parameter in parameters.items():
        dtype = torch.float32 if name.endswith("norm.weight") else narrow
        tensors[name] = whole(parameter.detach().to(dtype))
    gathered.load_state_dict(tensors, assign=True)
    gathered.reset_rotary()
    return gathered.eval()


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
