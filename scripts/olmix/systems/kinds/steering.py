"""What the algorithms have in common that move a mix while a model trains.

`MovingMix` ones choose the mix of the target run itself, stretch after stretch. `MovingWeights`
ones weigh the domains' losses in a proxy run that samples all domains alike; their answer is the
mean of those weights. Both are arithmetic on small arrays, in the order of the run's domains: the
trainer (`olmix.training.steered`) measures what they are told and does what they say.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from olmix.errors import OlmixError
from olmix.systems import algorithm, with_settings

__all__ = [
    "MovingMix",
    "MovingWeights",
    "Seen",
    "Steering",
    "equal_stretches",
    "make_steering",
]


@dataclass(frozen=True)
class Seen:
    """What an algorithm that moves the mix is told at the end of a stretch, by domain."""

    tokens: np.ndarray
    """Tokens read so far."""
    losses: np.ndarray
    """Mean loss of the tokens of the last stretch; NaN where none was read."""
    held_out: np.ndarray
    """Loss now on sequences that were not read yet; empty unless the algorithm asks for some."""


class Steering:
    """An algorithm in a run: its settings are keyword arguments, its state is small arrays."""

    kept: ClassVar[tuple[str, ...]] = ()
    """The attributes that a resumed run needs: arrays of floats."""

    def state(self) -> dict[str, np.ndarray]:
        """What `resume` needs to go on as if nothing had happened."""
        return {name: np.ascontiguousarray(getattr(self, name), float) for name in self.kept}

    def resume(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state that `state` gave."""
        for name in self.kept:
            setattr(self, name, np.array(state[name], dtype=float))


class MovingMix(Steering, ABC):
    """Chooses the mix of each stretch of a run from what the one before showed."""

    held_out: int = 0
    """Sequences of each domain that are held out to measure its loss between stretches."""

    def __init__(self, mix: np.ndarray, steps: int, updates: int) -> None:
        """Begin a run of ``steps`` steps with ``mix``; there are ``updates`` stretches."""
        self.first, self.steps, self.updates = np.asarray(mix, dtype=float), steps, updates

    @property
    def ends(self) -> list[int]:
        """The step after which each stretch ends; all are as long, the last ends the run."""
        return equal_stretches(self.steps, self.updates)

    @abstractmethod
    def next_mix(self, seen: Seen) -> np.ndarray:
        """The mix of the next stretch."""


class MovingWeights(Steering, ABC):
    """Weighs the domains' losses anew in every step."""

    measures: ClassVar[str]
    """What `update` is told: ``excess`` losses over a reference model, or ``gradients``."""
    passes: ClassVar[float]
    """What a step costs, in those of plain training (forward 1/3, backward 2/3)."""

    kept: ClassVar[tuple[str, ...]] = ("weights", "total", "updates")

    def __init__(self, mix: np.ndarray, steps: int) -> None:
        """Begin with equal weights; ``mix`` is what the run samples."""
        self.steps, size = steps, len(mix)
        self.weights = np.full(size, 1 / size)
        self.total, self.updates = np.zeros(size), np.zeros(1)

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> None:
        """Take what was measured of each domain in a step, as ``measures`` says."""

    @property
    def answer(self) -> np.ndarray:
        """The mean of the weights over all steps."""
        return self.total / self.updates if self.updates else self.weights

    def _exponentiate(self, scores: np.ndarray, *, smoothing: float = 0.0) -> None:
        """Multiply the weights by exp(scores), normalise, and mix with the uniform."""
        logs = np.log(self.weights) + scores
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        self.weights = (1 - smoothing) * weights + smoothing / len(weights)
        self.total = self.total + self.weights
        self.updates = self.updates + 1


def equal_stretches(steps: int, count: int) -> list[int]:
    """The ends of ``count`` stretches as equal as whole steps allow; fewer if there are less."""
    if count < 1:
        raise OlmixError(f"a run in {count} stretches; expected at least 1")
    return sorted({max(1, round(steps * number / count)) for number in range(1, count + 1)})


def make_steering(
    name: str, settings: dict[str, Any], mix: np.ndarray, steps: int
) -> MovingMix | MovingWeights:
    """The algorithm of a run that begins with ``mix``."""
    if not issubclass(algorithm(name), Steering):
        raise OlmixError(f"algorithm {name!r} moves nothing while a model trains")
    return with_settings(name, mix, steps, settings=settings)
