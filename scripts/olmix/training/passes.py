"""Forward and backward passes over a batch: in micro batches, over all processes."""

import contextlib
from typing import Any

import torch
from torch import Tensor

from olmix.training.distributed import Processes

__all__ = ["Passes"]


class Passes:
    """What a step of training does with the model before the optimiser's turn."""

    def __init__(
        self,
        loss: Any,
        team: Processes,
        *,
        micro_batch: int,
        z_loss: float,
        bfloat16: bool,
        shards: int = 1,
    ) -> None:
        self.loss, self.team = loss, team
        self.micro_batch, self.z_loss = micro_batch, z_loss
        self.bfloat16, self.shards = bfloat16, shards

    def mean(self, rows: Tensor) -> Tensor:
        """Add up the gradients of the mean loss of this process's ``rows``; that mean loss."""
        parts = rows.split(self.micro_batch)
        losses = []
        for number, part in enumerate(parts, start=1):
            with self._synchronising(number == len(parts)):
                with self.precision():
                    loss = self.loss(part, self.z_loss) / len(parts)
                loss.backward()
            losses.append(loss.detach())
        return sum(losses[1:], losses[0])

    def weighted(self, rows: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Add up the gradients of Σ weight·loss over the predictions of all processes' rows.

        Returns a share of that sum, whose mean over the processes is the sum, and the losses
        (rows, T − 1). Weights of equal size that sum to one make this `mean`.
        """
        total, losses = torch.zeros((), device=rows.device), []
        parts = list(
            zip(rows.split(self.micro_batch), weights.split(self.micro_batch), strict=True)
        )
        for number, (part, weight) in enumerate(parts, start=1):
            with self._synchronising(number == len(parts)):
                with self.precision():
                    # Gradients are averaged over processes; the weights mean a sum over them.
                    share, found = self.loss(part, self.z_loss, weight * self.team.count)
                share.backward()
            total += share.detach()
            losses.append(found)
        return total, torch.cat(losses)

    @torch.no_grad()
    def losses(self, rows: Tensor) -> Tensor:
        """The losses (rows, T − 1) of predictions, with no gradient."""
        found = []
        for part in rows.split(self.micro_batch):
            with self.precision():
                weight = torch.zeros(part[:, 1:].shape, device=part.device)
                found.append(self.loss(part, 0.0, weight)[1])
        return torch.cat(found)

    def _synchronising(self, last: bool) -> contextlib.AbstractContextManager:
        """Exchange gradients between processes after the last micro batch only."""
        if self.team.count == 1 or (last and self.shards == 1):
            return contextlib.nullcontext()
        if self.shards > 1:
            self.loss.set_requires_gradient_sync(last)
            return contextlib.nullcontext()
        return self.loss.no_sync()

    def precision(self) -> contextlib.AbstractContextManager:
        """The arithmetic of the run, as a context: bfloat16 where it is asked for."""
        if self.bfloat16:
            return torch.autocast(self.team.device.type, torch.bfloat16)
        return contextlib.nullcontext()
