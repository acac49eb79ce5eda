"""Runs of the engine `simulate`: what a law says about a mix, with the noise of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from olmix.files import content_hash, read_json
from olmix.measured.law import MeasuredLaw, load_replica
from olmix.simulation.law import Law

__all__ = ["SimulatedWorld"]

# Weights that agree to so many decimals are the same mix.
_DECIMALS = 9


@dataclass(frozen=True)
class SimulatedWorld:
    """A law over stored domains, in place of a corpus and of models trained on it.

    ``tokens`` are those of everything stored, which spread a source over its topics.
    """

    law: Law | MeasuredLaw
    tokens: Mapping[str, int]

    @classmethod
    def open(cls, data: str | Path) -> "SimulatedWorld":
        """The law of a scale's data folder."""
        return cls(load_replica(Path(data) / "law.json", 0), read_json(Path(data) / "stores.json"))

    @cached_property
    def _fingerprint(self) -> str:
        return content_hash(self.law.to_dict())

    def bpb(self, mix: Mapping[str, float]) -> np.ndarray:
        """The exact BPB of every task on a mix over stored domains."""
        return self.law.bpb(self._weights(mix))[0]

    def run(
        self,
        mix: Mapping[str, float],
        *,
        model: str,
        noise: float,
        seed: int,
        disturbance: float = 0.0,
    ) -> np.ndarray:
        """What a model of some noise, and so far from proxies, measures on every task of a mix.

        Mix, model and seed are the run: two that agree in all three are the same run and measure
        the same, as the engine `train` trains them once.
        """
        shares = {name: round(weight, _DECIMALS) for name, weight in mix.items() if weight > 0}
        key = int(content_hash([self._fingerprint, shares, model, seed]), 16)
        weights = self._weights(mix)
        return self.law.observe(weights, key, noise=noise, disturbance=disturbance)[0]

    def _weights(self, mix: Mapping[str, float]) -> np.ndarray:
        return np.array([mix.get(name, 0.0) for name in self.law.domains])
