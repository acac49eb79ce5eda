"""How sure a proposal is: a bootstrap over the swarm's runs.

Refitting on resampled runs and proposing again gives an interval for each weight, and for the gain
that the proposed mix is predicted to have over a baseline.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.regressors.surrogate import Surrogate, outputs_of
from olmix.tables import SwarmTable

__all__ = ["Bootstrap", "Refits", "bootstrap", "member_gains", "refitted"]

# Replicates refitted at a time: bounds the memory of the batched fit.
_BLOCK = 10


@dataclass(frozen=True)
class Refits:
    """Fits on resampled runs, and the proposed mix's gain under each of them."""

    models: tuple[Surrogate, ...]
    gains: np.ndarray  # (replicates, 1 + laws): share of the baseline saved, by all laws, by each
    level: float

    @classmethod
    def of(cls, models: Sequence[Surrogate], mix: Mix, baseline: Mix, level: float) -> "Refits":
        """The gains of a mix over a baseline under some models."""
        gains = [_gains(model, mix, baseline) for model in models]
        return cls(tuple(models), np.array(gains), level)

    def _interval(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tail = (1 - self.level) / 2
        return tuple(np.quantile(values, [tail, 1 - tail], axis=0))

    def gain_interval(self) -> tuple[float, float]:
        """The interval of the predicted relative gain over the baseline.

        It spans those of the single laws, where the model has several: they fit the runs alike and
        disagree away from them.
        """
        low, high = self._interval(self.gains)
        return float(low.min()), float(high.max())

    def to_dict(self) -> dict[str, Any]:
        """The interval of the gain as plain JSON values."""
        return {"replicates": len(self.gains), "level": self.level, "gain": self.gain_interval()}


@dataclass(frozen=True)
class Bootstrap(Refits):
    """Refits, and the weights that each of them proposes itself."""

    domains: tuple[str, ...]
    weights: np.ndarray  # (replicates, domains)

    def weight_intervals(self) -> dict[str, tuple[float, float]]:
        """The interval of each domain's weight."""
        low, high = self._interval(self.weights)
        return {
            name: (float(a), float(b)) for name, a, b in zip(self.domains, low, high, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Intervals as plain JSON values."""
        return super().to_dict() | {"weights": self.weight_intervals()}


def bootstrap(
    swarm: SwarmTable,
    surrogate: Surrogate,
    request: Request,
    proposal: Proposal,
    propose: Callable[[Surrogate, Request], Proposal],
    *,
    baseline: Mix,
    families: Mapping[str, list[str]] | None = None,
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
    models, weights = [], []
    for model in refitted(swarm, surrogate, families=families, replicates=replicates, seed=seed):
        models.append(model)
        weights.append(propose(model, request).mix.weights)
        if on_progress and (len(models) % _BLOCK == 0 or len(models) == replicates):
            on_progress(len(models), replicates)
    refits = Refits.of(models, proposal.mix, baseline, level)
    return Bootstrap(refits.models, refits.gains, level, surrogate.domains, np.array(weights))


def member_gains(surrogate: Surrogate, mix: Mix, baseline: Mix) -> dict[str, float]:
    """The relative gain of a mix over a baseline by each law that the fit weighed, by family."""
    mixes = np.vstack([other.aligned(surrogate.domains).weights for other in (baseline, mix)])
    return {
        law.family: _gain(law.predict(mixes) @ surrogate.weights)
        for law in surrogate.regressor.laws()
    }


def _gains(surrogate: Surrogate, mix: Mix, baseline: Mix) -> list[float]:
    """The relative gain of a mix over a baseline, by the whole model and each law with weight."""
    mixes = np.vstack([other.aligned(surrogate.domains).weights for other in (baseline, mix)])
    by_law = [term.predict(mixes) @ surrogate.weights for term in surrogate.regressor.terms()]
    return [_gain(averages) for averages in (surrogate.average(mixes), *by_law)]


def _gain(averages: np.ndarray) -> float:
    before, after = averages
    return float((before - after) / abs(before))


def refitted(
    swarm: SwarmTable,
    surrogate: Surrogate,
    *,
    families: Mapping[str, list[str]] | None = None,
    replicates: int,
    seed: int = 0,
) -> Iterator[Surrogate]:
    """The surrogate refitted on resampled runs; the first models do not depend on how many follow.

    Models come in blocks, as several are fitted at a time.
    """
    _, _, values = outputs_of(swarm, surrogate.granularity, families or {})
    counts = np.random.default_rng(seed).multinomial(
        len(swarm), np.full(len(swarm), 1 / len(swarm)), size=replicates
    )
    for start in range(0, replicates, _BLOCK):
        for regressor in surrogate.regressor.refit(
            swarm.mixes, values, counts[start : start + _BLOCK].astype(float)
        ):
            yield replace(surrogate, regressor=regressor)
