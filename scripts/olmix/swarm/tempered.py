"""The mixes that RegMix and CLIMB draw: Dirichlet around tempered token shares.

The prior is the natural distribution to the power ``temperature``; the Dirichlet's total strength
takes ``levels`` values in turn, log-spaced between two bounds. A mix that gives a domain more than
``most`` times its natural share is drawn again, weights under ``least`` become 0.
"""

import numpy as np

from olmix.errors import OlmixError

__all__ = ["distinct_tempered", "tempered_dirichlet"]

_BLOCK = 8192


def tempered_dirichlet(
    natural: np.ndarray,
    size: int,
    *,
    seed: int,
    temperature: float = 0.5,
    strengths: tuple[float, float] = (0.1, 5.0),
    levels: int = 15,
    most: float = 15.0,
    least: float = 1e-4,
    max_tries: int = 10_000_000,
) -> np.ndarray:
    """``size`` mixes (size, domains) around ``natural``; refused after ``max_tries`` candidates."""
    prior = natural**temperature
    prior = prior / prior.sum()
    totals = np.geomspace(*strengths, levels)
    rng = np.random.default_rng(seed)
    found, drawn = [np.empty((0, len(prior)))], 0
    while sum(map(len, found)) < size:
        if drawn >= max_tries:
            raise OlmixError(
                f"swarm: {sum(map(len, found))} of {size} mixes in {drawn} candidates keep every "
                f"domain under {most:g} times its natural share; raise the strengths"
            )
        total = totals[(drawn + np.arange(_BLOCK)) % levels]
        # A Dirichlet is gamma variables over their sum; a tiny shape may give nothing but zeros.
        weights = rng.standard_gamma(total[:, None] * prior)
        weights = weights[weights.sum(1) > 0]
        weights /= weights.sum(1, keepdims=True)
        weights[weights < least] = 0.0
        weights /= weights.sum(1, keepdims=True)
        found.append(weights[(weights <= most * natural).all(1)])
        drawn += _BLOCK
    return np.concatenate(found)[:size]


def distinct_tempered(natural: np.ndarray, size: int, *, seed: int) -> np.ndarray:
    """``size`` different mixes of `tempered_dirichlet`, in its order; weak ones may be one-hot."""
    drawn = size
    while True:
        mixes = tempered_dirichlet(natural, drawn, seed=seed)
        first = np.unique(np.round(mixes, 12), axis=0, return_index=True)[1]
        if len(first) >= size:
            return mixes[np.sort(first)[:size]]
        drawn *= 2
