"""The OLMo-2 transformer: one readable file, few kernel launches.

A layer adds to the residual stream the *normalised outputs* of attention and of a SwiGLU MLP
(OLMo 2's reordered norm); queries and keys are normalised over their full width before rotary
positions; there are no biases; input and output embeddings are separate.
Queries, keys and values share one weight and one norm: `olmix.model.export` splits them for other
libraries.
"""

import torch
import torch.nn.functional as F  # noqa: N812  (its usual name)
from torch import Tensor, nn

from olmix.errors import OlmixError
from olmix.model.cross_entropy import LinearCrossEntropy, Slice, fused_slice, slice_in_place
from olmix.model.initialisation import Init
from olmix.model.kernels import RMSNormalisation, ShortBlock
from olmix.model.shapes import ModelShape

__all__ = ["Transformer"]

SHORT_SEQUENCE = 128
"""Up to this length `ShortBlock` is the faster way through a layer on a CPU."""


def rotary_table(shape: ModelShape) -> Tensor:
    """Cosines and signed sines for every position: (2, context, head_dim).

    Dimension j of a head is paired with j + head_dim/2, as in `transformers`. A rotation is then
    ``x * cos + roll(x, head_dim/2) * sin`` with the first half of the sines negated. Always made
    on the CPU: what is computed on the meta device imports torch's compiler.
    """
    steps = torch.arange(0, shape.head_dim, 2, dtype=torch.float, device="cpu") / shape.head_dim
    frequencies = 1.0 / shape.rope_theta**steps
    positions = torch.arange(shape.context_length, dtype=torch.float, device="cpu")
    angles = torch.outer(positions, frequencies)
    cos, sin = angles.cos(), angles.sin()
    return torch.stack((torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)))


class RMSNorm(nn.Module):
    """Divide by the root mean square over the last axis, then scale."""

    def __init__(self, *size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise ``x`` (..., d), never in bfloat16: not under autocast, nor when sharded."""
        precise = torch.promote_types(self.weight.dtype, torch.float)
        x, weight = x.to(precise), self.weight.to(precise)
        if x.device.type == "cpu":
            return RMSNormalisation.apply(x, weight, self.eps)
        return F.rms_norm(x, x.shape[-1:], eps=self.eps) * weight


class Attention(nn.Module):
    """Causal attention with normalised queries and keys and rotary positions."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.n_heads, self.head_dim = shape.n_heads, shape.head_dim
        self.qkv = nn.Linear(shape.d_model, 3 * shape.d_model, bias=False)
        self.out = nn.Linear(shape.d_model, shape.d_model, bias=False)
        self.qk_norm = RMSNorm(2, shape.d_model, eps=shape.norm_eps)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Mix each position of ``x`` (B, T, d) with its past."""
        batch, length, d = x.shape
        qk, v = self.qkv(x).split((2 * d, d), dim=-1)
        qk = self.qk_norm(qk.view(batch, length, 2, d))
        qk = qk.view(batch, length, 2, self.n_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k = rotate(qk.contiguous(), rotary)
        v = v.view(batch, length, self.n_heads, self.head_dim).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


def rotate(x: Tensor, rotary: Tensor) -> Tensor:
    """Turn the pairs of every head of ``x`` (..., T, head_dim) by their position's angles."""
    cos, sin = rotary
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)


class MLP(nn.Module):
    """SwiGLU: down(silu(gate(x)) * up(x))."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.gate = nn.Linear(shape.d_model, shape.mlp_hidden, bias=False)
        self.up = nn.Linear(shape.d_model, shape.mlp_hidden, bias=False)
        self.down = nn.Linear(shape.mlp_hidden, shape.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Pass each position of ``x`` (..., d) through the MLP by itself."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """One layer: attention, then MLP, each normalised before it joins the residual stream."""

    def __init__(self, shape: ModelShape) -> None:
        super().__init__()
        self.attention = Attention(shape)
        self.attention_norm = RMSNorm(shape.d_model, eps=shape.norm_eps)
        self.mlp = MLP(shape)
        self.mlp_norm = RMSNorm(shape.d_model, eps=shape.norm_eps)

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        """Pass the residual stream (B, T, d) through the layer."""
        short = x.device.type == "cpu" and x.shape[1] <= SHORT_SEQUENCE
        if short and not torch.is_autocast_enabled("cpu"):
            return self.forward_short(x, rotary)
        x = x + self.attention_norm(self.attention(x, rotary))
        return x + self.mlp_norm(self.mlp(x))

    def forward_short(self, x: Tensor, rotary: Tensor) -> Tensor:
        """`forward` for short sequences on a CPU, with a hand-written gradient."""
        attention, mlp = self.attention, self.mlp
        attending = (attention.qkv, attention.out, attention.qk_norm, self.attention_norm)
        passing = (mlp.gate, mlp.up, mlp.down, self.mlp_norm)
        weights = (part.weight for part in (*attending, *passing))
        return ShortBlock.apply(x, rotary, attention.n_heads, self.mlp_norm.eps, *weights)


class Transformer(nn.Module):
    """An OLMo-2 language model of a given shape."""

    rotary: Tensor

    def __init__(self, shape: ModelShape, *, init: Init | None = None) -> None:
        super().__init__()
        self.shape = shape
        # Empty: on the meta device, drawing it would import torch's compiler, which takes a second.
        empty = torch.empty(shape.vocab_size, shape.d_model)
        self.embedding = nn.Embedding.from_pretrained(empty, freeze=False)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.n_layers))
        self.norm = RMSNorm(shape.d_model, eps=shape.norm_eps)
        self.head = nn.Linear(shape.d_model, shape.vocab_size, bias=False)
        self.register_buffer("rotary", rotary_table(shape), persistent=False)
        self.compiled_slice: Slice | None = None
        self.initialise(init or Init())

    def compile_parts(self) -> None:
        """Compile each layer, and the loss of a slice of tokens, when they are first used."""
        for block in self.blocks:
            block.compile()
        self.compiled_slice = torch.compile(fused_slice, dynamic=False)

    def reset_rotary(self) -> None:
        """Make the rotary table again where the weights are."""
        self.rotary = rotary_table(self.shape).to(self.embedding.weight.device)

    @torch.no_grad()
    def initialise(self, init: Init) -> None:
        """Draw every matrix anew from ``init``'s own seed, in a fixed order.

        On the meta device there is nothing to draw into.
        """
        if self.embedding.weight.is_meta:
            return
        generator = torch.Generator().manual_seed(init.seed)
        for name, parameter in self.named_parameters():
            if name.endswith("norm.weight"):
                parameter.fill_(1.0)
            else:
                deviation = init.deviation(name, fan_in=parameter.shape[1])
                parameter.normal_(0.0, deviation, generator=generator)

    def hidden(self, ids: Tensor) -> Tensor:
        """The normalised last hidden states of ``ids`` (B, T): (B, T, d)."""
        length = ids.shape[1]
        if length > self.shape.context_length:
            raise OlmixError(
                f"sequence of {length} tokens is longer than the context of shape "
                f"{self.shape.name!r}, {self.shape.context_length}"
            )
        x = self.embedding(ids)
        rotary = self.rotary[:, :length]
        for block in self.blocks:
            x = block(x, rotary)
        return self.norm(x)

    def forward(self, ids: Tensor) -> Tensor:
        """Next-token logits of ``ids`` (B, T): (B, T, vocabulary)."""
        return self.head(self.hidden(ids))

    def loss(self, ids: Tensor, z_loss: float = 0.0) -> Tensor:
        """Mean next-token cross entropy of ``ids`` (B, T) in nats, over its B (T - 1) predictions.

        ``z_loss`` times the mean squared log-partition is added. Whole logits are never held.
        """
        return self.token_losses(ids, z_loss)[0]

    def token_losses(
        self, ids: Tensor, z_loss: float = 0.0, shares: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The loss, and the cross entropy of each prediction (B, T - 1), which has no gradient.

        ``shares`` (B, T - 1) are the predictions' weights in the loss; without them, all alike.
        """
        batch, length = ids.shape
        on_cpu = ids.device.type == "cpu"
        if shares is None:
            predictions = batch * (length - 1)
            shares = self.rotary.new_full((batch, length - 1), 1 / predictions)
        fed, targets, shares = predictions_of(ids, shares, whole=not on_cpu)
        slice_of = self.compiled_slice or (slice_in_place if on_cpu else fused_slice)
        loss, losses = LinearCrossEntropy.apply(
            self.hidden(fed).flatten(0, 1),
            self.head.weight,
            targets.flatten(),
            shares.flatten(),
            z_loss,
            slice_of,
        )
        return loss, losses.view(batch, -1)[:, : length - 1]


def predictions_of(ids: Tensor, shares: Tensor, *, whole: bool) -> tuple[Tensor, Tensor, Tensor]:
    """What is fed to a model of sequences ``ids`` (B, T), the next tokens, and their shares.

    ``whole`` feeds the last token too, whose prediction does not count: lengths are powers of two,
    which a GPU's kernels are made for, and one less is not.
    """
    if not whole:
        return ids[:, :-1], ids[:, 1:], shares
    return ids, ids.roll(-1, 1), F.pad(shares, (0, 1))
