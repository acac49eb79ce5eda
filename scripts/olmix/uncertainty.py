"""How sure a proposal is: a bootstrap over the swarm's runs.

Refitting on resampled runs and proposing again gives an interval for each weight, and for the gain
that the proposed mix is predicted to have over a baseline.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.regressors import make_regressor
from olmix.regressors.log_linear import LogLinear
from olmix.surrogate import Surrogate, outputs_of
from olmix.tables import SwarmTable

__all__ = ["Bootstrap", "bootstrap"]

# Replicates refitted at a time: bounds the memory of the batched fit.
_BLOCK = 10


@dataclass(frozen=True)
class Bootstrap:
    """Weights of every replicate's proposal, and the proposed mix's gain under each replicate."""

    domains: tuple[str, ...]
    weights: np.ndarray  # (replicates, domains)
    gains: np.ndarray  # (replicates,), share of the baseline's BPB saved by the proposed mix
    level: float

    def _interval(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tail = (1 - self.level) / 2
        return tuple(np.quantile(values, [tail, 1 - tail], axis=0))

    def weight_intervals(self) -> dict[str, tuple[float, float]]:
        """The interval of each domain's weight."""
        low, high = self._interval(self.weights)
        return {
            name: (float(a), float(b)) for name, a, b in zip(self.domains, low, high, strict=True)
        }

    def gain_interval(self) -> tuple[float, float]:
        """The interval of the predicted relative gain over the baseline."""
        low, high = self._interval(self.gains)
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """Intervals as plain JSON values."""
        return {
            "replicates": len(self.weights),
            "level": self.level,
            "weights": self.weight_intervals(),
            "gain": self.gain_interval(),
        }


def bootstrap(
    swarm: SwarmTable,
    surrogate: Surrogate,
    request: Request,
    proposal: Proposal,
    propose: Callable[[Surrogate, Request], Proposal],
    *,
    baseline: Mix,
    families: dict[str, list[str]] | None = None,
    replicates: int = 200,
    level: float = 0.9,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Resample the runs ``replicates`` times, refit, propose again.

    A replicate's gain is that of the *proposed* mix under the replicate's model, not of the
    replicate's own optimum, so that it is not flattered by fitting noise.
    """
    if replicates < 2:
        raise OlmixError(f"bootstrap: {replicates} replicates, expected 2 or more")
    _, _, values = outputs_of(swarm, surrogate.granularity, families or {})
    counts = np.random.default_rng(seed).multinomial(
        len(swarm), np.full(len(swarm), 1 / len(swarm)), size=replicates
    )
    mixes = np.vstack(
        [
            baseline.aligned(surrogate.domains).weights,
            proposal.mix.aligned(surrogate.domains).weights,
        ]
    )
    weights, gains = [], []
    for start in range(0, replicates, _BLOCK):
        for regressor in _refits(surrogate, swarm.mixes, values, counts[start : start + _BLOCK]):
            fitted = Surrogate(
                surrogate.domains,
                surrogate.outputs,
                surrogate.weights,
                surrogate.granularity,
                regressor,
            )
            weights.append(propose(fitted, request).mix.weights)
            before, after = fitted.average(mixes)
            gains.append((before - after) / before)
        if on_progress:
            on_progress(len(weights), replicates)
    return Bootstrap(surrogate.domains, np.array(weights), np.array(gains), level)


def _refits(surrogate: Surrogate, mixes: np.ndarray, values: np.ndarray, counts: np.ndarray):
    """The surrogate's regressor refitted on each row of run counts."""
    model = surrogate.regressor
    if isinstance(model, LogLinear):
        return model.refit(mixes, values, counts.astype(float))
    return [
        make_regressor(model.family, **model.get_params()).fit(
            np.repeat(mixes, count, axis=0), np.repeat(values, count, axis=0)
        )
        for count in counts
    ]
