"""ADO: read the domains whose own scaling laws say that more of them pays most."""

import numpy as np

from olmix.systems.kinds.steering import MovingMix, Seen, equal_stretches

__all__ = ["ADO", "fit_law"]

_EXPONENTS = np.geomspace(0.02, 1.5, 16)
_HUBER = 1e-3
_REWEIGHTED = 6


def fit_law(tokens: np.ndarray, losses: np.ndarray) -> tuple[float, float, float]:
    """(e, a, b) of L = e + a·n^(−b) with e, a ≥ 0, by Huber loss on log L.

    Given b the law is linear; so b alone is searched for, from many starts.
    """
    from scipy.optimize import minimize_scalar

    scores = [_level_and_slope(tokens, losses, exponent)[2] for exponent in _EXPONENTS]
    best = int(np.argmin(scores))
    around = _EXPONENTS[max(0, best - 1)], _EXPONENTS[min(best + 1, len(_EXPONENTS) - 1)]
    found = minimize_scalar(
        lambda exponent: _level_and_slope(tokens, losses, exponent)[2],
        bounds=around,
        method="bounded",
    )
    exponent = float(found.x) if found.fun < scores[best] else float(_EXPONENTS[best])
    level, slope, _ = _level_and_slope(tokens, losses, exponent)
    return level, slope, exponent


def _level_and_slope(
    tokens: np.ndarray, losses: np.ndarray, exponent: float
) -> tuple[float, float, float]:
    """e and a for a given b, by reweighted least squares, and the Huber loss they leave."""
    from scipy.optimize import nnls

    powers = tokens**-exponent
    weights = 1 / losses
    for _ in range(_REWEIGHTED):
        design = np.column_stack([weights, weights * powers])
        level, slope = nnls(design, weights * losses)[0]
        errors = np.abs(np.log(np.maximum(level + slope * powers, 1e-9) / losses))
        weights = np.sqrt(_HUBER / np.maximum(errors, _HUBER)) / losses
    loss = np.where(errors < _HUBER, errors**2 / 2, _HUBER * (errors - _HUBER / 2)).sum()
    return float(level), float(slope), float(loss)


class ADO(MovingMix):
    """Adaptive data optimisation.

    After ``warmup`` of the run, at each of ``updates`` moments, a law e + a·n^(−b) is fitted to
    each domain's training losses over the tokens n read of it. A domain's preference is
    prior × b·(L − e)/n × (running average of the mix)^``credit``, at least ``floor``; what is
    played is ``memory`` × running average + (1 − ``memory``) × preference.
    """

    kept = ("points", "average", "turn")

    def __init__(
        self,
        mix: np.ndarray,
        steps: int,
        *,
        updates: int = 20,
        warmup: float = 0.2,
        memory: float = 0.9,
        credit: float = 0.5,
        floor: float = 0.01,
    ) -> None:
        super().__init__(mix, steps)
        self.updates, self.warmup, self.memory = updates, warmup, memory
        self.credit, self.floor = credit, floor
        self.points = np.empty((0, 2, len(mix)))
        self.average, self.turn = self.first.copy(), np.ones(1)

    @property
    def ends(self) -> list[int]:
        """The ends of equal stretches: the mix is decided anew after each."""
        return equal_stretches(self.steps, self.updates)

    def next_mix(self, seen: Seen) -> np.ndarray:
        """Note the losses of the last stretch; the mix is the prior until the warm-up is over."""
        self.points = np.concatenate([self.points, [[seen.tokens, seen.losses]]])
        played = self.first
        if len(self.points) >= max(3, self.warmup * self.updates):
            played = self.memory * self.average + (1 - self.memory) * self.preference()
        self.turn = self.turn + 1
        self.average = self.average + (played - self.average) / self.turn
        return played

    def preference(self) -> np.ndarray:
        """The mix that the fitted laws ask for now."""
        gains = np.zeros(len(self.first))
        for domain, (tokens, losses) in enumerate(self.points.transpose(2, 1, 0)):
            known = ~np.isnan(losses)
            if known.sum() >= 3:
                _, slope, exponent = fit_law(tokens[known], losses[known])
                read = tokens[known][-1]
                gains[domain] = exponent * slope * read ** (-exponent - 1)
        wanted = self.first * gains * self.average**self.credit
        if not wanted.sum() > 0:
            return self.first
        wanted = wanted / wanted.sum()
        raised = np.maximum(wanted, self.floor)
        return raised / raised.sum()


ALGORITHM = ADO
