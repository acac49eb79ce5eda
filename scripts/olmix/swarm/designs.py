"""Swarms of other systems than ours, by name, all around the natural distribution.

Those of Data Mixing Laws, AutoScale and BiMix are in the paper's table of design choices, which
names them without their formulas. They are simplified: all keep every domain at more than zero,
have the same number of tokens in every run, and ignore how much of a domain there is. RegMix's is
in `olmix.swarm.tempered`; single mixes are what algorithms begin with that need a run or two.
"""

from collections.abc import Callable, Sequence

import numpy as np

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.swarm.sampling import Swarm, SwarmReport
from olmix.swarm.tempered import distinct_tempered

__all__ = [
    "DESIGNS",
    "designed_swarm",
    "entropy_weighted",
    "exponential_grid",
    "one_at_a_time",
    "token_entropy",
]

DESIGNS = (
    "natural",
    "uniform",
    "one_domain",
    "tempered",
    "exponential_grid",
    "one_at_a_time",
    "entropy_weighted",
)


def designed_swarm(
    kind: str, natural: Mix, size: int, *, seed: int, entropies: Callable[[], Sequence[float]]
) -> Swarm:
    """The swarm of a design; ``entropies`` of the domains are asked for only if it needs them."""
    weights = natural.weights
    if kind == "natural":
        mixes = np.tile(weights, (size, 1))
    elif kind == "uniform":
        mixes = np.full((size, len(weights)), 1 / len(weights))
    elif kind == "one_domain":
        mixes = np.eye(len(weights))[:size]
    elif kind == "tempered":
        mixes = distinct_tempered(weights, size, seed=seed)
    elif kind == "exponential_grid":
        mixes = exponential_grid(weights, size, seed=seed)
    elif kind == "one_at_a_time":
        mixes = one_at_a_time(weights, size)
    elif kind == "entropy_weighted":
        mixes = entropy_weighted(weights, np.asarray(entropies()), size)
    else:
        raise OlmixError(f"swarm: design is {kind!r}, expected one of {', '.join(DESIGNS)}")
    single = kind in ("natural", "uniform")  # one mix, trained with so many orders of its data
    if not single and len(np.unique(np.round(mixes, 12), axis=0)) < size:
        raise OlmixError(f"swarm: design '{kind}' of size {size} holds the same mix twice")
    mixes.flags.writeable = False
    coverage = dict(zip(natural.names, (mixes > 0).sum(0).tolist(), strict=True))
    return Swarm(natural.names, mixes, SwarmReport(size, 1.0, coverage, 0))


def exponential_grid(
    natural: np.ndarray, size: int, *, seed: int, doublings: int = 2
) -> np.ndarray:
    """Points of a grid on which every domain's share is halved or doubled (Data Mixing Laws).

    Every natural weight is multiplied by 2^e, e from −doublings to doublings, and the mix
    renormalised; ``size`` different points of the grid are drawn.
    """
    m, steps = len(natural), 2 * doublings + 1
    # Multiplying all weights alike changes nothing: a point is its exponents less their maximum.
    available = steps**m - (steps - 1) ** m
    if size > available:
        raise OlmixError(
            f"swarm: {size} points of an exponential grid that has {available} for {m} domains"
        )
    rng = np.random.default_rng(seed)
    points: dict[tuple[int, ...], None] = {}
    while len(points) < size:
        exponents = rng.integers(steps, size=m)
        points[tuple((exponents - exponents.max()).tolist())] = None
    return _normalised(natural * 2.0 ** np.array(list(points), dtype=float))


def one_at_a_time(natural: np.ndarray, size: int, *, factor: float = 3.0) -> np.ndarray:
    """The natural mix, then each domain's weight times and divided by ``factor`` (AutoScale).

    2m+1 mixes in all; a smaller ``size`` takes the first ones.
    """
    m = len(natural)
    if size > 2 * m + 1:
        raise OlmixError(
            f"swarm: {size} mixes that perturb one domain at a time, there are {2 * m + 1} for "
            f"{m} domains"
        )
    mixes = np.tile(natural, (2 * m + 1, 1))
    for domain in range(m):
        mixes[1 + 2 * domain, domain] *= factor
        mixes[2 + 2 * domain, domain] /= factor
    return _normalised(mixes[:size])


def entropy_weighted(natural: np.ndarray, entropies: np.ndarray, size: int) -> np.ndarray:
    """Steps from the natural mix to one where a domain's weight grows with its entropy (BiMix).

    The mixes are natural^(1−t)·exp(H)^t, renormalised, at ``size`` equal steps of t from 0 to 1:
    H in nats, so exp(H) is a domain's effective number of words.
    """
    if size < 2:
        raise OlmixError(f"swarm: {size} entropy-weighted mixes, expected 2 or more")
    share = np.linspace(0, 1, size)[:, None]
    return _normalised(
        np.exp((1 - share) * np.log(natural) + share * (entropies - entropies.max()))
    )


def token_entropy(frequencies: np.ndarray) -> float:
    """Entropy in nats of a distribution over tokens; it need not be normalised."""
    seen = frequencies[frequencies > 0] / frequencies.sum()
    return float(-(seen * np.log(seen)).sum())


def _normalised(mixes: np.ndarray) -> np.ndarray:
    return mixes / mixes.sum(1, keepdims=True)
