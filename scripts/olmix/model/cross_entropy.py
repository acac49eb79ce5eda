"""The output matrix and the cross entropy as one step of autograd, a slice of tokens at a time.

The logits of a batch over 100,352 words would be larger than everything else together. Here the
gradients are computed beside the loss while a slice's logits exist, so that the memory is that of
one slice and no logits are computed twice. `olmix.model.logits` has the sizes and counts.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from olmix.model.logits import tokens_at_once

__all__ = ["LinearCrossEntropy", "fused_slice", "slice_in_place"]

Slice = Callable[[Tensor, Tensor, Tensor, float, bool], tuple[Tensor, Tensor, Tensor | None]]
"""From logits (n, V), targets and shares (n, 1), z_loss and whether a gradient is wanted to the
loss of each token and its log-partition (n, 1), and the gradient of the logits."""


def slice_in_place(
    logits: Tensor, targets: Tensor, shares: Tensor, z_loss: float, wanted: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """A `Slice` for a CPU, where an exponential costs more than a pass: each is computed once."""
    dtype, logits = logits.dtype, _precise(logits)
    top = logits.amax(1, keepdim=True)
    chosen = logits.gather(1, targets)
    exponentials = logits.sub_(top).exp_()
    sums = exponentials.sum(1, keepdim=True)
    partition = sums.log().add_(top)
    losses = partition - chosen
    if not wanted:
        return losses, partition, None
    factor = sums.reciprocal_().mul_(shares)
    if z_loss:
        factor *= (partition * (2 * z_loss)).add_(1)
    gradient = exponentials.mul_(factor).scatter_add_(1, targets, -shares)
    return losses, partition, gradient.to(dtype)


def fused_slice(
    logits: Tensor, targets: Tensor, shares: Tensor, z_loss: float, wanted: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """A `Slice` for a GPU, where a pass costs more than an exponential.

    Compiled, it is two kernels: one reads the logits, the other reads them again and writes their
    gradient over them.
    """
    values = _precise(logits)
    top = values.amax(1, keepdim=True)
    partition = (values - top).exp().sum(1, keepdim=True).log() + top
    losses = partition - values.gather(1, targets)
    if not wanted:
        return losses, partition, None
    words = torch.arange(logits.shape[1], device=logits.device)
    gradient = (values - partition).exp() * (shares * (1 + 2 * z_loss * partition))
    gradient = gradient - torch.where(words == targets, shares, 0.0)
    return losses, partition, logits.copy_(gradient)


class LinearCrossEntropy(torch.autograd.Function):
    """The loss of hidden states under an output matrix: Σ share·(-log p + z_loss·(log Z)²)."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        targets: Tensor,
        shares: Tensor,
        z_loss: float,
        slice_of: Slice,
    ) -> tuple[Tensor, Tensor]:
        """The loss, and -log p of each token, which has no gradient.

        ``hidden`` (N, d), ``weight`` (V, d), ``targets`` (N,); ``shares`` (N,) is each token's
        weight in the loss: 1/N for a mean, 0 for a token that does not count.
        """
        device, dtype = hidden.device.type, hidden.dtype
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
        wanted = any(ctx.needs_input_grad[:2])
        with torch.autocast(device, enabled=False):  # what is computed in what is said here
            matrix = weight.to(dtype)
            rows = tokens_at_once(len(weight), dtype.itemsize)
            columns = hidden.to(dtype), targets.unsqueeze(1), shares.unsqueeze(1)
            losses, partitions, hidden_gradients = [], [], []
            weight_gradient: Tensor | None = None
            for states, some, share in zip(*(c.split(rows) for c in columns), strict=True):
                logits = states @ matrix.T
                loss, partition, gradient = slice_of(logits, some, share, z_loss, wanted)
                losses.append(loss)
                partitions.append(partition)
                if gradient is not None:
                    hidden_gradients.append(gradient @ matrix)
                    weight_gradient = add_product(weight_gradient, gradient.T, states)
            each, partition = torch.cat(losses).squeeze(1), torch.cat(partitions).squeeze(1)
            total = (shares * each).sum()
            if z_loss:
                total = total + z_loss * (shares * partition.square()).sum()
        if weight_gradient is not None:
            ctx.save_for_backward(
                torch.cat(hidden_gradients).to(hidden.dtype), weight_gradient.to(weight.dtype)
            )
        ctx.mark_non_differentiable(each)
        return total, each

    @staticmethod
    def backward(ctx: Any, scale: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients found on the way, times the gradient of the loss."""
        hidden_gradient, weight_gradient = ctx.saved_tensors
        return hidden_gradient * scale, weight_gradient * scale, None, None, None, None


def add_product(total: Tensor | None, one: Tensor, two: Tensor) -> Tensor:
    """``total`` plus ``one @ two``, added up in float32 whatever the matrices are."""
    if one.dtype != torch.bfloat16:
        return one @ two if total is None else total.addmm_(one, two)
    if one.device.type != "cuda":
        product = one.float() @ two.float()
        return product if total is None else total.add_(product)
    if total is None:
        return torch.mm(one, two, out_dtype=torch.float)
    return torch.addmm(total, one, two, out_dtype=torch.float, out=total)


def _precise(logits: Tensor) -> Tensor:
    """``logits`` in float32, or in float64 if they are."""
    return logits.to(torch.promote_types(logits.dtype, torch.float))
