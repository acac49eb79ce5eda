"""Named training recipes: the paper's, by model shape, and the tiny ones beside them."""

from dataclasses import dataclass, field

from olmix.errors import OlmixError
from olmix.model.initialisation import Init
from olmix.model.shapes import SHAPES, chinchilla_tokens

__all__ = ["PRESETS", "Preset", "preset"]


@dataclass(frozen=True)
class Preset:
    """How a shape is trained unless told otherwise."""

    sequence_length: int
    batch_size: int
    learning_rate: float
    tokens: int
    warmup_fraction: float = 0.05
    init: Init = field(default_factory=Init)

    def warmup_steps(self, steps: int) -> int:
        """Warm-up of a run of ``steps`` steps, never more than OLMo 2's 2,000."""
        return min(2000, int(self.warmup_fraction * steps))


def _proxy(name: str) -> Preset:
    """Appendix "Implementation Details": batch 64, rate 0.007, length 2048, 5x Chinchilla.

    The paper states them for the 30M proxy; its other proxies are given the same.
    """
    return Preset(2048, 64, 0.007, chinchilla_tokens(SHAPES[name], 5))


def _tiny(steps: int, learning_rate: float) -> Preset:
    return Preset(64, 8, learning_rate, steps * 64 * 8, init=Init("fast"))


# The paper says "a cosine scheduler with warmup and linear decay" and neither how long the warm-up
# is nor where the decay ends. Here: linear warm-up over 5% of the steps (at most 2,000), then a
# cosine down to `RunSettings.final_lr_fraction` of the peak.
PRESETS: dict[str, Preset] = {
    **{name: _proxy(name) for name in ("1m", "15m", "30m", "60m")},
    # Appendix "Experimental Setup": batch 512, rate 0.0018, length 4096, 100B tokens.
    "1b": Preset(4096, 512, 0.0018, 100_000_000_000),
    # Larger ones are trained longer. How long is long enough is in config/world.yaml: more steps
    # show less of the mix over the noise of seeds.
    "tiny-1m": _tiny(steps=50, learning_rate=0.02),
    "tiny-15m": _tiny(steps=75, learning_rate=0.02),
    "tiny-30m": _tiny(steps=100, learning_rate=0.01),
    "tiny-60m": _tiny(steps=120, learning_rate=0.015),
    "tiny-target": _tiny(steps=120, learning_rate=0.01),
}


def preset(name: str) -> Preset:
    """The recipe of the shape called ``name``."""
    if name not in PRESETS:
        raise OlmixError(f"no training preset {name!r}; expected one of {', '.join(PRESETS)}")
    return PRESETS[name]
