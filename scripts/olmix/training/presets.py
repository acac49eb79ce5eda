"""Named training recipes: the paper's, by model shape, and the tiny ones beside them."""

from dataclasses import dataclass, field

from olmix.errors import OlmixError
from olmix.model.initialisation import Init
from olmix.model.shapes import SHAPES, chinchilla_tokens, compact_shapes

__all__ = ["PRESETS", "Preset", "preset", "proxy_learning_rate"]


@dataclass(frozen=True)
class Preset:
    """How a shape is trained unless told otherwise."""

    sequence_length: int
    batch_size: int
    learning_rate: float
    tokens: int
    longest_warmup: int = 2000
    linear_decay: float = 0.0
    warmup_share: float = 0.05
    init: Init = field(default_factory=Init)

    def warmup_steps(self, steps: int) -> int:
        """Warm-up of a run of ``steps`` steps: its share of them, and not above the longest."""
        return min(self.longest_warmup, int(self.warmup_share * steps))


LINEAR_DECAY = 0.1
"""The last tenth of the steps, over which the authors' schedule falls linearly to nothing."""


def proxy_learning_rate(name: str) -> float:
    """The peak rate of the authors' training scripts: 0.0047 (N / 108M)^(-1/3).

    N counts what `chinchilla_tokens` does. For the 30M proxy it is 0.00728, the paper's 0.007.
    """
    counted = SHAPES[name].parameters - SHAPES[name].embedding_parameters
    return 0.0047 * (counted / 108e6) ** (-1 / 3)


def _proxy(name: str) -> Preset:
    """Appendix "Implementation Details": batch 64, length 2048, 5x Chinchilla.

    The paper states them for the 30M proxy; its other proxies are given the same. The warm-up of
    100 steps is that of the authors' training scripts.
    """
    tokens = chinchilla_tokens(SHAPES[name], 5)
    return Preset(2048, 64, proxy_learning_rate(name), tokens, 100, LINEAR_DECAY)


def _target(name: str) -> Preset:
    """Appendix "Experimental Setup": batch 512, rate 0.0018, length 4096, 5x Chinchilla.

    That is 61,006 whole steps, where the paper's figure of checkpoints ends; "100B tokens" rounds
    it. The warm-up, which nobody states, is OLMo 2's 2,000 steps.
    """
    per_step = 4096 * 512
    steps = chinchilla_tokens(SHAPES[name], 5) // per_step
    return Preset(4096, 512, 0.0018, steps * per_step, 2000, LINEAR_DECAY)


def _tiny(steps: int, learning_rate: float) -> Preset:
    return Preset(64, 8, learning_rate, steps * 64 * 8, init=Init("fast"))


def _compact(name: str) -> Preset:
    """Short sequences and small batches as long as models are small: many steps of few tokens."""
    width = SHAPES[name].d_model
    length, batch = (128, 8) if width < 256 else (512, 16) if width < 512 else (1024, 64)
    rate = min(0.02, proxy_learning_rate(name))
    return Preset(length, batch, rate, chinchilla_tokens(SHAPES[name], 1), init=Init("fast"))


PRESETS: dict[str, Preset] = {
    **{name: _proxy(name) for name in ("1m", "15m", "30m", "60m")},
    "1b": _target("1b"),
    # Larger ones are trained on more. How much is enough is in config/world.yaml: more steps show
    # less of the mix over the noise of seeds.
    "tiny-1m": _tiny(steps=50, learning_rate=0.02),
    "tiny-15m": _tiny(steps=75, learning_rate=0.02),
    "tiny-30m": _tiny(steps=100, learning_rate=0.01),
    "tiny-60m": _tiny(steps=120, learning_rate=0.015),
    "tiny-target": Preset(64, 40, 0.006, 70 * 64 * 40, warmup_share=0.3, init=Init("fast")),
    **{name: _compact(name) for name in compact_shapes()},
}


def preset(name: str) -> Preset:
    """The recipe of the shape called ``name``."""
    if name not in PRESETS:
        raise OlmixError(f"no training preset {name!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
