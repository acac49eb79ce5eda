"""What the loss over a large vocabulary costs on a GPU: tokens at a time, bytes moved, memory.

`olmix.model.cross_entropy` computes by these numbers, `olmix.cost.compute` reckons with them, and a
test counts them in the compiled code. Knows no torch.
"""

from olmix.model.shapes import ModelShape

__all__ = [
    "ELEMENTWISE",
    "LOGIT_BYTES",
    "PRODUCTS",
    "loss_memory",
    "loss_traffic",
    "tokens_at_once",
]

BUFFER_BYTES = 2**30
"""Largest buffer of logits: the larger, the less often the gradient of the matrix is added to."""

LOGIT_BYTES = 2
"""Of a logit in bfloat16, the only form in which it is ever in memory on a GPU."""

ELEMENTWISE = 3
"""How often a logit moves besides in products: read for the log-partition, read and overwritten by
its gradient."""

PRODUCTS = 3
"""How often it moves in matrix products: written by one, its gradient read by two."""


def tokens_at_once(vocabulary: int, logit_bytes: int = LOGIT_BYTES) -> int:
    """Tokens whose logits are computed together: the largest power of two that fits the buffer."""
    fitting = max(1, BUFFER_BYTES // (vocabulary * logit_bytes))
    return 1 << (fitting.bit_length() - 1)


def loss_traffic(shape: ModelShape, tokens: int) -> float:
    """Bytes that the loss of ``tokens`` tokens and its gradients move through a GPU's memory.

    Each slice of tokens also reads the matrix twice in bfloat16, and reads and writes the sum of
    its gradient in float32.
    """
    logits = (ELEMENTWISE + PRODUCTS) * LOGIT_BYTES * shape.vocab_size * tokens
    slices = tokens / tokens_at_once(shape.vocab_size)
    return logits + slices * (2 * LOGIT_BYTES + 2 * 4) * shape.embedding_parameters


def loss_memory(shape: ModelShape) -> int:
    """Bytes of a GPU that the loss fills: one slice of logits, and the matrix's gradient twice.

    Twice, because it is scaled by what the loss is multiplied with before it is handed over.
    """
    slice_bytes = LOGIT_BYTES * shape.vocab_size * tokens_at_once(shape.vocab_size)
    return slice_bytes + 2 * 4 * shape.embedding_parameters
