"""A mix: a probability vector with names (§3.1.1)."""

import math
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from olmix.errors import OlmixError

__all__ = ["Mix", "same_mix"]

# How far from 1 a sum may be and still be taken for rounding.
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Mix:
    """Weights over named domains: non-negative and summing to one.

    Weights that sum to one within 1e-6 are renormalised; any others are refused.
    """

    names: tuple[str, ...]
    weights: np.ndarray

    def __post_init__(self) -> None:
        """Refuse what is not a probability vector, then renormalise and freeze it."""
        names = tuple(self.names)
        weights = _as_floats(names, self.weights)
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            raise OlmixError(f"mix: domain '{repeated[0]}' appears more than once")
        wrong = ~np.isfinite(weights) | (weights < 0)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise OlmixError(
                f"mix: weight of '{names[first]}' is {weights[first]}, "
                "expected a finite number of at least 0"
            )
        total = math.fsum(weights)
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise OlmixError(
                f"mix: weights over {len(names)} domains sum to {total:.9g}, "
                f"expected 1 within {SUM_TOLERANCE:g}"
            )
        weights = weights / total
        weights.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def from_dict(cls, weights: Mapping[str, float]) -> "Mix":
        """A mix from ``{domain: weight}``."""
        # As they are: what is no number is refused by name above.
        return cls(tuple(weights), np.array(list(weights.values()), dtype=object))

    def to_dict(self) -> dict[str, float]:
        """``{domain: weight}`` in order, ready for JSON."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

    @property
    def support(self) -> tuple[str, ...]:
        """The domains with weight."""
        return tuple(n for n, w in zip(self.names, self.weights, strict=True) if w > 0)

    def __getitem__(self, name: str) -> float:
        """The weight of one domain."""
        if name not in self.names:
            raise OlmixError(f"mix: no domain '{name}' among {_listing(self.names)}")
        return float(self.weights[self.names.index(name)])

    def __len__(self) -> int:
        """How many domains the mix is over, with or without weight."""
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        """Same names in the same order, same weights."""
        return (
            isinstance(other, Mix)
            and self.names == other.names
            and np.array_equal(self.weights, other.weights)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value and holding an array

    def total_variation(self, other: "Mix") -> float:
        """Half the L1 distance; a domain that one of the two lacks counts as weight 0 there."""
        mine, theirs = self.to_dict(), other.to_dict()
        names = dict.fromkeys(self.names + other.names)
        return 0.5 * math.fsum(abs(mine.get(n, 0.0) - theirs.get(n, 0.0)) for n in names)

    def restricted(self, names: Iterable[str]) -> "Mix":
        """The relative weights within ``names`` (p̃ restricted to D_fix, §4.2.1)."""
        names = tuple(names)
        weights = np.array([self[name] for name in names])
        total = math.fsum(weights)
        if total <= 0:
            raise OlmixError(
                f"mix: the domains {_listing(names)} have no weight, "
                "so the ratios among them are undefined"
            )
        return Mix(names, weights / total)

    def aligned(self, names: Iterable[str]) -> "Mix":
        """The same mix over exactly ``names``, in that order; names it lacks get weight 0."""
        names = tuple(names)
        mine = self.to_dict()
        lost = [name for name in self.support if name not in set(names)]
        if lost:
            raise OlmixError(
                f"mix: '{lost[0]}' has weight {mine[lost[0]]:.6g} but is not among "
                f"{_listing(names)}"
            )
        return Mix(names, np.array([mine.get(name, 0.0) for name in names]))


def _as_floats(names: tuple[str, ...], values: Any) -> np.ndarray:
    """One float per name, or an error that says which is not a number."""
    values = list(values)
    if len(values) != len(names):
        raise OlmixError(f"mix: {len(names)} domains but {len(values)} weights")
    if not names:
        raise OlmixError("mix: no domains, expected at least one")
    for name, value in zip(names, values, strict=True):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number:
            raise OlmixError(f"mix: weight of '{name}' is {reprlib.repr(value)}, expected a number")
    return np.array(values, dtype=float)


def _listing(names: Iterable[str], most: int = 5) -> str:
    """The first few names, for an error line."""
    names = list(names)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def same_mix(mixes: np.ndarray) -> np.ndarray:
    """A number for each row of weights, the same for equal rows, counted as they first appear."""
    _, first, number = np.unique(mixes, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number.ravel()]
