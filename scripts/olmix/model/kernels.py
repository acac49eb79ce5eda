"""Operations of the transformer with hand-written gradients.

On a CPU a training step of a small model is a sum of many small passes over memory, and autograd
takes more of them than needed. The results are those of the plain formulas, with which the tests
compare them. `LinearCrossEntropy` serves every device.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["LinearCrossEntropy", "RMSNormalisation", "SwiGLU"]

LOGITS_AT_ONCE = 2**27
"""Largest number of logits held at once in the loss: 0.5 GB in float32, 1,337 tokens of Dolma 2."""


class RMSNormalisation(torch.autograd.Function):
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last axis."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """``weight`` is (d,), or (n, d) for n norms side by side in an ``x`` of (..., n, d)."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = length.square_().mul_(1 / x.shape[-1]).add_(eps).rsqrt_()
        normal = x * scale
        ctx.save_for_backward(normal, scale, weight)
        return normal * weight

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        """With n = x·scale: dx = scale (g w - n mean(g w n)) and dw = sum(g n)."""
        normal, scale, weight = ctx.saved_tensors
        product = gradient * normal
        weight_gradient = product.flatten(0, -1 - weight.ndim).sum(0)
        along = product.mul_(weight).mean(-1, keepdim=True)
        x_gradient = (gradient * weight).addcmul_(normal, along, value=-1).mul_(scale)
        return x_gradient, weight_gradient, None


class SwiGLU(torch.autograd.Function):
    """``silu(gate) * up`` of the two halves of the last axis."""

    @staticmethod
    def forward(ctx, gate_up: Tensor) -> Tensor:
        """The gate is copied first: exponentials of a strided half are four times slower."""
        gate, up = gate_up.chunk(2, dim=-1)
        gate = gate.contiguous()
        silu = F.silu(gate)
        ctx.save_for_backward(gate, silu, up)
        return silu * up

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        """Both halves of the gradient, written side by side."""
        gate, silu, up = ctx.saved_tensors
        result = torch.empty((*gate.shape[:-1], 2, gate.shape[-1]), dtype=gate.dtype)
        result[..., 0, :] = torch.ops.aten.silu_backward(gradient * up, gate)
        torch.mul(gradient, silu, out=result[..., 1, :])
        return result.flatten(-2)


class LinearCrossEntropy(torch.autograd.Function):
    """The output matrix and the cross entropy in one, a slice of tokens at a time.

    The gradients are computed beside the loss while a slice's logits exist, so that the memory is
    that of one slice and no logits are computed twice: with 100,352 words the logits of a batch
    would otherwise be larger than everything else together.
    """

    @staticmethod
    def forward(ctx, hidden: Tensor, weight: Tensor, targets: Tensor, z_loss: float) -> Tensor:
        """The mean loss; ``hidden`` (N, d), ``weight`` (V, d), ``targets`` (N,)."""
        needs_gradient = any(ctx.needs_input_grad[:2])
        dtype = hidden.dtype
        if torch.is_autocast_enabled(hidden.device.type):
            dtype = torch.get_autocast_dtype(hidden.device.type)
        matrix, count = weight.to(dtype), len(targets)
        total = torch.zeros((), dtype=torch.float, device=hidden.device)
        hidden_gradients, weight_gradient = [], None
        step = max(1, LOGITS_AT_ONCE // len(weight))
        for states, wanted in zip(
            hidden.to(dtype).split(step), targets.unsqueeze(1).split(step), strict=True
        ):
            logits = (states @ matrix.T).float()
            top = logits.amax(1, keepdim=True)
            total += top.sum() - logits.gather(1, wanted).sum()
            weights = logits.sub_(top).exp_()
            sums = weights.sum(1, keepdim=True)
            log_sums = sums.log()
            total += log_sums.sum()
            if z_loss:
                partition = log_sums.add_(top)
                total += z_loss * partition.square().sum()
            if not needs_gradient:
                continue
            factor = sums.reciprocal_().mul_(1 / count)
            if z_loss:
                factor *= 1 + 2 * z_loss * partition
            gradient = weights.mul_(factor)
            minus = gradient.new_full((1, 1), -1 / count).expand_as(wanted)
            gradient = gradient.scatter_add_(1, wanted, minus).to(dtype)
            hidden_gradients.append(gradient @ matrix)
            product = (gradient.T @ states).to(weight.dtype)
            weight_gradient = product if weight_gradient is None else weight_gradient.add_(product)
        if needs_gradient:
            ctx.save_for_backward(torch.cat(hidden_gradients).to(hidden.dtype), weight_gradient)
        return total / count

    @staticmethod
    def backward(ctx, scale: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """The gradients found on the way, times the gradient of the mean loss."""
        hidden_gradient, weight_gradient = ctx.saved_tensors
        return hidden_gradient * scale, weight_gradient * scale, None, None
