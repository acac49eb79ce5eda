"""The losses of a run: kept step by step, summed up for its record, and watched."""

import math

import torch
from torch import Tensor

from olmix.errors import OlmixError
from olmix.training.distributed import Processes
from olmix.training.settings import RunSettings

__all__ = ["Losses"]

DIVERGED = 3.0
"""A loss this many times the smallest one so far counts against the run."""
PATIENCE = 100
"""So many such steps in a row, after the warm-up, are a divergence."""
POINTS = 100
"""Points of the training curve in a run's record."""


class Losses:
    """Loss of each step, summed over processes late so that a GPU is not made to wait."""

    def __init__(self, settings: RunSettings, team: Processes) -> None:
        self.settings = settings
        self.team = team
        self.known: list[float] = []
        self._pending: list[Tensor] = []
        self._smallest = math.inf
        self._bad = 0

    def resume(self, values: Tensor) -> None:
        """Take over the losses of earlier steps, from a checkpoint."""
        self.known = []
        for value in values.tolist():
            self._add(value)

    def add(self, loss: Tensor) -> None:
        """Note the loss of the next step; `flush` reads it."""
        self._pending.append(loss)

    def flush(self) -> None:
        """Read the pending losses; one that is not finite, or a divergence, ends the run."""
        if not self._pending:
            return
        if self.team.count == len(self._pending) == 1:
            values = [self._pending[0].item()]
        else:
            values = self.team.mean(torch.stack(self._pending).float()).tolist()
        self._pending.clear()
        for value in values:
            self._add(value)

    def _add(self, value: float) -> None:
        step = len(self.known)
        if not math.isfinite(value):
            raise OlmixError(
                f"training failed: the loss is {value} at step {step} of {self.settings.steps} "
                f"(learning rate {self.settings.learning_rate:g}); lower the learning rate"
            )
        self.known.append(value)
        self._smallest = min(self._smallest, value)
        bad = step >= self.settings.warmup_steps and value > DIVERGED * self._smallest
        self._bad = self._bad + 1 if bad else 0
        if self._bad == PATIENCE:
            raise OlmixError(
                f"training diverged: the loss is {value:.4g} at step {step} of "
                f"{self.settings.steps}, above {DIVERGED:g} times its smallest, "
                f"{self._smallest:.4g}, for {PATIENCE} steps; lower the learning rate"
            )

    def tensor(self) -> Tensor:
        """The losses so far, for a checkpoint; float64, as JSON and Python have them."""
        return torch.tensor(self.known, dtype=torch.float64)

    def curve(self) -> list[dict[str, float]]:
        """At most `POINTS` means over equal stretches of training, each with where it ends."""
        count = len(self.known)
        per_step = self.settings.sequence_length * self.settings.batch_size
        ends = sorted({-(-count * point // POINTS) for point in range(1, POINTS + 1)})
        return [
            {"step": end, "tokens": end * per_step, "loss": math.fsum(part) / len(part)}
            for start, end in zip([0, *ends], ends, strict=False)
            if (part := self.known[start:end])
        ]
