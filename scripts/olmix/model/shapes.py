"""Model shapes by name: the paper's proxies and target, and tiny ones in the same relation."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from olmix.errors import OlmixError

__all__ = [
    "DOLMA2_VOCABULARY",
    "SHAPES",
    "ModelShape",
    "chinchilla_tokens",
    "compact_shapes",
    "is_tiny",
    "shape",
]

DOLMA2_VOCABULARY = 100_352
"""Rows of the embedding: the Dolma 2 tokenizer's 100,278 ids, padded to a multiple of 128."""

TINY_VOCABULARY = 256

COMPACT_VOCABULARY = 2048


@dataclass(frozen=True)
class ModelShape:
    """The numbers that fix an OLMo-2 transformer."""

    name: str
    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    mlp_hidden: int
    context_length: int
    rope_theta: float = 500_000.0
    norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse sizes below one and heads that rotary positions cannot pair up."""
        sizes = ("vocab_size", "d_model", "n_layers", "n_heads", "mlp_hidden", "context_length")
        for size in sizes:
            if (value := getattr(self, size)) < 1:
                raise OlmixError(f"shape {self.name!r}: {size} is {value}, expected at least 1")
        if self.d_model % (2 * self.n_heads):
            raise OlmixError(
                f"shape {self.name!r}: d_model {self.d_model} over {self.n_heads} heads "
                "is not an even head size, as rotary positions need"
            )

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.n_heads

    @property
    def embedding_parameters(self) -> int:
        """Parameters of one of the two (untied) vocabulary matrices."""
        return self.vocab_size * self.d_model

    @property
    def non_embedding_parameters(self) -> int:
        """Parameters of the layers and the final norm, without any vocabulary matrix."""
        d = self.d_model
        matrices = 4 * d * d + 3 * d * self.mlp_hidden
        norms = 4 * d  # of queries, keys, the attention's output and the MLP's output
        return self.n_layers * (matrices + norms) + d

    @property
    def parameters(self) -> int:
        """All parameters: both vocabulary matrices and everything between them."""
        return 2 * self.embedding_parameters + self.non_embedding_parameters

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able record of the shape."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "ModelShape":
        """The shape written by `to_dict`."""
        try:
            return cls(**record)
        except TypeError as error:
            raise OlmixError(f"not a model shape: {record!r} ({error})") from None


def _proxy(name: str, d_model: int, n_layers: int, n_heads: int) -> ModelShape:
    """A proxy of the paper's Table `model_architectures`.

    The MLP's width is not in the table; 8d/3 rounded up to a multiple of 256 gives the 30M proxy
    the 29,102,336 parameters that its released token budget implies.
    """
    hidden = -(-8 * d_model // (3 * 256)) * 256
    return ModelShape(name, DOLMA2_VOCABULARY, d_model, n_layers, n_heads, hidden, 2048)


def _tiny(name: str, d_model: int, n_heads: int) -> ModelShape:
    """One layer for a vocabulary of some hundred words; MLP of 8d/3 rounded up to a multiple of 16.

    More layers cost more than they show: config/world.yaml has the numbers. Its context is twice
    what tiny runs train on, so that longer prompts can be scored.
    """
    hidden = -(-8 * d_model // (3 * 16)) * 16
    return ModelShape(name, TINY_VOCABULARY, d_model, 1, n_heads, hidden, 128)


def _compact(d_model: int, n_layers: int, n_heads: int, context_length: int = 512) -> ModelShape:
    """A shape for somebody's own text, named by width and layers; MLP as of a tiny one."""
    hidden = -(-8 * d_model // (3 * 16)) * 16
    name = f"compact-{d_model}x{n_layers}"
    return ModelShape(name, COMPACT_VOCABULARY, d_model, n_layers, n_heads, hidden, context_length)


SHAPES: dict[str, ModelShape] = {
    entry.name: entry
    for entry in (
        _proxy("1m", d_model=16, n_layers=4, n_heads=4),
        _proxy("15m", d_model=128, n_layers=8, n_heads=4),
        _proxy("30m", d_model=256, n_layers=4, n_heads=8),
        _proxy("60m", d_model=384, n_layers=8, n_heads=8),
        ModelShape("1b", DOLMA2_VOCABULARY, 2048, 16, 16, 8192, 4096),
        _tiny("tiny-1m", d_model=8, n_heads=1),
        _tiny("tiny-15m", d_model=16, n_heads=1),
        _tiny("tiny-30m", d_model=32, n_heads=2),
        _tiny("tiny-60m", d_model=48, n_heads=3),
        _tiny("tiny-target", d_model=64, n_heads=4),
        _compact(d_model=32, n_layers=1, n_heads=2),
        _compact(d_model=64, n_layers=1, n_heads=2),
        _compact(d_model=64, n_layers=2, n_heads=2),
        _compact(d_model=128, n_layers=2, n_heads=4),
        _compact(d_model=128, n_layers=4, n_heads=4),
        _compact(d_model=256, n_layers=4, n_heads=8, context_length=1024),
        _compact(d_model=512, n_layers=8, n_heads=8, context_length=2048),
        _compact(d_model=768, n_layers=12, n_heads=12, context_length=2048),
    )
}


def compact_shapes() -> list[str]:
    """The shapes for somebody's own text, from small to large."""
    return [name for name in SHAPES if name.startswith("compact-")]


def is_tiny(name: str) -> bool:
    """Whether the named shape takes its vocabulary from the corpus it is trained on."""
    return name.startswith(("tiny-", "compact-"))


def shape(name: str, vocab_size: int | None = None) -> ModelShape:
    """The shape called ``name``, with another vocabulary if one is given."""
    if name not in SHAPES:
        raise OlmixError(f"unknown model shape {name!r}; expected one of {', '.join(SHAPES)}")
    return SHAPES[name] if vocab_size is None else replace(SHAPES[name], vocab_size=vocab_size)


def chinchilla_tokens(shape: ModelShape, multiple: float = 5) -> int:
    """The token budget of ``multiple`` times Chinchilla: 20 tokens per parameter.

    As in the released settings, the parameters counted are all but one vocabulary matrix (the
    input embedding is a look-up): 5x for the 30M proxy is 2,910,233,600 tokens.
    """
    return round(multiple * 20 * (shape.parameters - shape.embedding_parameters))
