"""How weights start, as data: settings of a run can be read without importing torch."""

from dataclasses import dataclass
from typing import Literal

from olmix.errors import OlmixError

__all__ = ["Init"]


@dataclass(frozen=True)
class Init:
    """How the weights start; runs that share an `Init` and a shape start from the same weights.

    ``normal``: every matrix normal with deviation ``std`` (OLMo 2's 0.02). ``fast``: embeddings of
    deviation 1 and matrices of 1/sqrt(fan-in), with which a tiny model learns within a few hundred
    steps. Norms start at one in both.
    """

    kind: Literal["normal", "fast"] = "normal"
    std: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse an unknown kind or a deviation that is not positive."""
        if self.kind not in ("normal", "fast"):
            raise OlmixError(f"unknown initialisation {self.kind!r}; expected 'normal' or 'fast'")
        if not self.std > 0:
            raise OlmixError(f"initialisation std is {self.std}, expected a positive number")

    def deviation(self, name: str, fan_in: int) -> float:
        """Standard deviation of the matrix called ``name``."""
        if self.kind == "normal":
            return self.std
        return 1.0 if name.startswith("embedding") else fan_in**-0.5
