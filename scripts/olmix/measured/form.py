"""The form of a measured law: what it makes of a mix before its coefficients come in.

Richer than any family that is fitted to the law's runs, so that what holds on them is not true by
construction: a linear part and diminishing returns per domain, diminishing returns per source,
products of sources, and terms of their own for mixes of the first source alone. It holds no run of
a swarm, only the mean mix and its coefficients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["FormSettings", "LawForm"]

# Domains that hardly any run has still need a place where their returns begin to diminish.
_SMALLEST_SHIFT = 1e-4


@dataclass(frozen=True)
class FormSettings:
    """What distinguishes one form from another; the factors act through the ridge of the fit.

    Parameters
    ----------
    onset
        Returns diminish from this multiple of a domain's, or a source's, mean weight on.
    sources, pairs, coupled, alone
        Factors of the sources' terms, of products of two sources, of products of a topic of the
        first source with another source, and of the terms for the first source alone; 0 leaves
        terms out.
    width
        Weight of other sources at which the terms for the first source alone have fallen to 1/e.
    """

    onset: float
    sources: float
    pairs: float
    coupled: float
    alone: float
    width: float

    def to_dict(self) -> dict[str, float]:
        """The settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class LawForm:
    """Settings together with the domains they are about and the swarm's mean mix.

    ``first`` is the source that some runs are made of alone, such as DCLM.
    """

    settings: FormSettings
    domains: tuple[str, ...]
    mean: np.ndarray  # (domains,)
    first: str

    @classmethod
    def from_dict(
        cls, settings: Mapping[str, Any], domains: Sequence[str], mean: np.ndarray, first: str
    ) -> "LawForm":
        """A form from its settings as plain values."""
        return cls(FormSettings(**settings), tuple(domains), np.asarray(mean, float), first)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The sources of the domains, each once."""
        return tuple(dict.fromkeys(name.partition(":")[0] for name in self.domains))

    @cached_property
    def _membership(self) -> np.ndarray:
        """Which source each domain is of: (domains, sources)."""
        source = np.array([name.partition(":")[0] for name in self.domains])
        return (source[:, None] == np.array(self.sources)).astype(float)

    @cached_property
    def _topics(self) -> np.ndarray:
        return np.flatnonzero(self._membership[:, self.sources.index(self.first)])

    def alone(self, mixes: np.ndarray) -> np.ndarray:
        """How much a mix is of the first source alone, from 0 to 1: (mixes, 1)."""
        others = 1 - mixes[:, self._topics].sum(1, keepdims=True)
        return np.exp(-np.maximum(others, 0.0) / self.settings.width)

    def returns(self, mixes: np.ndarray) -> np.ndarray:
        """Diminishing returns of every domain, 1 where it stands alone: (mixes, domains)."""
        return _diminishing(mixes, self.settings.onset * self.mean)

    def features(self, mixes: np.ndarray) -> np.ndarray:
        """Everything a law is linear in: (mixes, features)."""
        mixes, settings = np.atleast_2d(mixes), self.settings
        of_domains = self.returns(mixes)
        membership = self._membership
        shift = settings.onset * (self.mean @ membership)
        of_sources = _diminishing(mixes @ membership, shift)
        parts = [mixes, of_domains, settings.sources * of_sources]
        if settings.pairs:
            one, other = np.triu_indices(len(self.sources))
            parts.append(settings.pairs * of_sources[:, one] * of_sources[:, other])
        topics = of_domains[:, self._topics]
        if settings.coupled:
            products = topics[:, :, None] * of_sources[:, None, :]
            parts.append(settings.coupled * products.reshape(len(mixes), -1))
        if settings.alone:
            alone = settings.alone * self.alone(mixes)
            parts += [alone * topics, alone * mixes[:, self._topics], alone]
        return np.hstack(parts)


def _diminishing(weights: np.ndarray, shift: np.ndarray) -> np.ndarray:
    shift = np.maximum(shift, _SMALLEST_SHIFT)
    return np.log1p(weights / shift) / np.log1p(1 / shift)
