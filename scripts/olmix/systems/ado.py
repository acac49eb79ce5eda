"""ADO: read the domains whose own scaling laws say that more of them pays most."""

import numpy as np

from olmix.systems.kinds.steering import MovingMix, Seen

__all__ = ["ADO", "fit_law"]

_EXPONENTS = np.geomspace(0.02, 1.5, 16)
_HUBER = 1e-3
_REWEIGHTED = 6

_STEP_MEMORY = 0.9
"""What the history keeps of itself in a step."""


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
    each domain's training losses over the tokens n read so far, of all domains together. A
    domain's preference is prior × b·(L − e)/n × history^``credit``, at least ``floor``, where the
    history is what was read in the last steps. What is played is ``memory`` × the mean of all
    preferences so far (the prior before there are any) + (1 − ``memory``) × preference.
    """

    kept = ("points", "history", "mean")

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
        super().__init__(mix, steps, updates)
        self.warmup, self.memory, self.credit, self.floor = warmup, memory, credit, floor
        # Of every stretch: each domain's tokens by then, and its loss.
        self.points = np.empty((0, 2, len(mix)))
        self.history, self.mean = self.first.copy(), self.first.copy()

    def next_mix(self, seen: Seen) -> np.ndarray:
        """Note the losses of the last stretch; the mix is the prior until the warm-up is over."""
        before = self.points[-1, 0] if len(self.points) else np.zeros(len(self.first))
        self.points = np.concatenate([self.points, [[seen.tokens, seen.losses]]])
        turn, (start, now, end) = len(self.points), self._around()
        read = seen.tokens - before
        fades = _STEP_MEMORY ** (now - start)
        self.history = fades * self.history + (1 - fades) * read / read.sum()
        if turn < max(3, self.warmup * self.updates):
            return self.first
        wanted = self.preference()
        played = self.memory * self.mean + (1 - self.memory) * wanted
        self.mean = self.mean + (1 - now / end) * (wanted - self.mean)
        return played

    def _around(self) -> tuple[int, int, int]:
        """The steps at which the last stretch began, it ended, and the next one will."""
        ends, turn = [0, *self.ends], len(self.points)
        return ends[turn - 1], ends[turn], ends[turn + 1]

    def preference(self) -> np.ndarray:
        """The mix that the fitted laws ask for now."""
        gains, read = np.zeros(len(self.first)), self.points[:, 0].sum(1)
        for domain, losses in enumerate(self.points[:, 1].T):
            known = ~np.isnan(losses)
            if known.sum() >= 3:
                _, slope, exponent = fit_law(read[known], losses[known])
                gains[domain] = exponent * slope * read[-1] ** (-exponent - 1)
        wanted = self.first * gains * self.history**self.credit
        if not wanted.sum() > 0:
            return self.first
        raised = np.maximum(wanted / wanted.sum(), self.floor)
        return raised / raised.sum()


ALGORITHM = ADO
