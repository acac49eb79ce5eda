"""Runs of the engine `simulate`: what a known law says about a mix, with the noise of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from olmix.files import content_hash, read_json
from olmix.simulation.law import Law

__all__ = ["SimulatedWorld"]

# Weights that agree to so many decimals are the same mix.
_DECIMALS = 9


@dataclass(frozen=True)
class SimulatedWorld:
    """A law over stored domains, in place of a corpus and of models trained on it.

    ``tokens`` are those of everything stored, which spread a source over its topics.
    """

    law: Law
    tokens: Mapping[str, int]

    @classmethod
    def open(cls, data: str | Path) -> "SimulatedWorld":
        """The law of a scale's data folder."""
        return cls(Law.load(Path(data) / "law.json"), read_json(Path(data) / "stores.json"))

    @cached_property
    def _fingerprint(self) -> str:
        return content_hash(self.law.to_dict())

    def bpb(self, mix: Mapping[str, float]) -> np.ndarray:
        """The exact BPB of every task on a mix over stored domains."""
        weights = np.array([mix.get(name, 0.0) for name in self.law.domains])
        return self.law.bpb(weights)[0]

    def run(self, mix: Mapping[str, float], *, model: str, noise: float, seed: int) -> np.ndarray:
        """What a model of some noise measures on every task after training on a mix.

        Mix, model and seed are the run: two that agree in all three are the same run and measure
        the same, as the engine `train` trains them once.
        """
        shares = {name: round(weight, _DECIMALS) for name, weight in mix.items() if weight > 0}
        key = int(content_hash([self._fingerprint, shares, model, seed]), 16)
        return self.bpb(mix) + noise * self.law.draw_noise(1, key)[0]
