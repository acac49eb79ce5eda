"""Parts of the model with hand-written gradients, for the CPU.

A training step of a small model is a sum of many small passes over memory, of which autograd takes
half as many again as needed. The results are those of the plain formulas in
`olmix.model.transformer`, with which the tests compare them.
"""

import functools
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (its usual name)
from torch import Tensor

__all__ = ["RMSNormalisation", "ShortBlock"]


def normalise(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """``x / sqrt(mean(x^2) + eps)`` over the last axis, and the factor ``x`` was multiplied by."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    floor = x.new_full((), eps)
    scale = torch.addcmul(floor, length, length, value=1 / x.shape[-1]).rsqrt_()
    return x * scale, scale


def normalise_backward(
    gradient: Tensor, normal: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of x and of w in y = n w with n = x·scale.

    They are dx = scale (g w - n mean(g w n)) and dw = sum(g n). ``weight`` is (d,), or (k, d) for
    k norms side by side in an x of (..., k, d).
    """
    product = gradient * normal
    weight_gradient = product.flatten(0, -1 - weight.ndim).sum(0)
    if weight.ndim == 1:
        along = (product @ weight).unsqueeze(-1)
    else:
        along = product.mul_(weight).sum(-1, keepdim=True)
    x_gradient = (gradient * weight).addcmul_(normal, along, value=-1 / weight.shape[-1])
    return x_gradient.mul_(scale), weight_gradient


class RMSNormalisation(torch.autograd.Function):
    """`normalise` times a weight, as one step of autograd."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        """The normalised and weighted ``x``."""
        normal, scale = normalise(x, eps)
        ctx.save_for_backward(normal, scale, weight)
        return normal * weight

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        """The gradients of ``x`` and ``weight``."""
        return *normalise_backward(gradient, *ctx.saved_tensors), None


@functools.lru_cache(maxsize=8)
def future_mask(length: int, dtype: torch.dtype) -> Tensor:
    """Minus infinity where a query (row) would see a later key (column), zero elsewhere."""
    return torch.full((length, length), -torch.inf, dtype=dtype).triu_(1)


@functools.lru_cache(maxsize=8)
def halves_swapped(width: int, dtype: torch.dtype) -> Tensor:
    """The permutation matrix that swaps the halves of a row: its product is faster than `roll`."""
    return torch.eye(width, dtype=dtype).roll(width // 2, 0)


class ShortBlock(torch.autograd.Function):
    """A whole layer of the transformer for short sequences on a CPU, as one step of autograd.

    It holds the attention matrices whole, which is the fast way up to a hundred tokens or so.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, rotary: Tensor, heads: int, eps: float, *weights: Tensor
    ) -> Tensor:
        """``x`` (B, T, d) through the layer with ``weights`` in the order of the block's own."""
        qkv_weight, out_weight, qk_weight, attention_weight, *mlp_weights, mlp_weight = weights
        gate_weight, up_weight, down_weight = mlp_weights
        (batch, length, d), width = x.shape, x.shape[-1] // heads
        cos, sin = rotary
        stream = x.reshape(-1, d)

        qkv = stream @ qkv_weight.T
        qk_normal, qk_scale = normalise(qkv[:, : 2 * d].view(-1, 2, d), eps)
        # The weight is applied on the way into the layout of heads: (2, B, heads, T, head_dim).
        qk = torch.empty((2, batch, heads, length, width), dtype=x.dtype)
        by_head = qk_normal.view(batch, length, 2, heads, width).permute(2, 0, 3, 1, 4)
        torch.mul(by_head, qk_weight.view(2, 1, heads, 1, width), out=qk)
        swapped = (qk.view(-1, width) @ halves_swapped(width, x.dtype)).view(qk.shape)
        q, k = qk.mul_(cos).addcmul_(swapped, sin).view(2, -1, length, width)
        v = split_heads(qkv[:, 2 * d :], batch, heads)
        scores = torch.bmm(q * width**-0.5, k.transpose(1, 2))
        seen = scores.add_(future_mask(length, x.dtype)).softmax(-1)
        mixed = join_heads(torch.bmm(seen, v), batch)
        attention_normal, attention_scale = normalise(mixed @ out_weight.T, eps)
        middle = torch.addcmul(stream, attention_normal, attention_weight)

        gate, up = middle @ gate_weight.T, middle @ up_weight.T
        silu = F.silu(gate)
        inner = silu * up
        mlp_normal, mlp_scale = normalise(inner @ down_weight.T, eps)

        ctx.heads = heads
        attention = (stream, qk_normal, qk_scale, q, k, v, seen, mixed)
        attended = (attention_normal, attention_scale, middle)
        feed_forward = (gate, up, silu, inner, mlp_normal, mlp_scale)
        ctx.save_for_backward(*weights, rotary, *attention, *attended, *feed_forward)
        # No view of something: FSDP2 could lose its hook on one, and warns of it.
        return torch.addcmul(middle.view(x.shape), mlp_normal.view(x.shape), mlp_weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of `forward`: the chain rule through its lines, last to first."""
        saved = ctx.saved_tensors
        qkv_weight, out_weight, qk_weight, attention_weight = saved[:4]
        gate_weight, up_weight, down_weight, mlp_weight, (cos, sin), stream = saved[4:10]
        qk_normal, qk_scale, q, k, v, seen, mixed, attention_normal, attention_scale = saved[10:19]
        middle, gate, up, silu, inner, mlp_normal, mlp_scale = saved[19:]
        (batch, length, d), heads, width = gradient.shape, ctx.heads, q.shape[-1]
        flow = gradient.reshape(-1, d)

        update, d_mlp = normalise_backward(flow, mlp_normal, mlp_scale, mlp_weight)
        d_down = update.T @ inner
        d_inner = update @ down_weight
        d_gate = torch.ops.aten.silu_backward(d_inner * up, gate)
        d_up = d_inner.mul_(silu)
        flow = flow.addmm(d_gate, gate_weight).addmm_(d_up, up_weight)
        d_gate, d_up = d_gate.T @ middle, d_up.T @ middle

        update, d_attention = normalise_backward(
            flow, attention_normal, attention_scale, attention_weight
        )
        d_out = update.T @ mixed
        d_mixed = split_heads(update @ out_weight, batch, heads)
        d_v = torch.bmm(seen.transpose(1, 2), d_mixed)
        d_scores = torch.bmm(d_mixed, v.transpose(1, 2)).mul_(seen)
        d_scores.addcmul_(seen, d_scores.sum(-1, keepdim=True), value=-1)
        d_qk = torch.stack((torch.bmm(d_scores, k), torch.bmm(d_scores.transpose(1, 2), q)))
        d_qk = d_qk.mul_(width**-0.5).view(2, batch, heads, length, width)
        # A rotation is undone by swapping where the sine was multiplied: swap(g * sin).
        swapped = (d_qk * sin).view(-1, width) @ halves_swapped(width, d_qk.dtype)
        d_qk = torch.addcmul(swapped.view(d_qk.shape), d_qk, cos)
        d_qk = d_qk.permute(1, 3, 0, 2, 4).reshape(-1, 2, d)
        d_qk, d_qk_weight = normalise_backward(d_qk, qk_normal, qk_scale, qk_weight)
        d_qkv = torch.cat((d_qk.reshape(-1, 2 * d), join_heads(d_v, batch)), dim=1)
        flow = flow.addmm_(d_qkv, qkv_weight)
        d_weights = (d_qkv.T @ stream, d_out, d_qk_weight, d_attention, d_gate, d_up, d_down, d_mlp)
        return flow.view(gradient.shape), None, None, None, *d_weights


def split_heads(x: Tensor, batch: int, heads: int) -> Tensor:
    """(B·T, d) as (B·heads, T, head_dim)."""
    parts = x.view(batch, -1, heads, x.shape[-1] // heads).transpose(1, 2)
    return parts.reshape(batch * heads, -1, parts.shape[-1])


def join_heads(x: Tensor, batch: int) -> Tensor:
    """The inverse of `split_heads`."""
    _, length, width = x.shape
    parts = x.view(batch, -1, length, width).transpose(1, 2)
    return parts.reshape(batch * length, -1)
