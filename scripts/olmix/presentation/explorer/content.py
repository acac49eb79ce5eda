"""What the explorer's page holds: the law, its replicates and the request, as compact JSON."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.presentation.wording import spoken
from olmix.proposers.proposal import Request
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.terms import Term

__all__ = ["MOST_REPLICATES", "Exploration", "packed_law"]

# Bootstrap replicates a page holds: enough for a 90 % interval, and about 20 kB each for 64 domains
# and 52 tasks.
MOST_REPLICATES = 20


@dataclass(frozen=True)
class Exploration:
    """A fitted surrogate and the request its reader starts from.

    Parameters
    ----------
    natural
        What gains are measured against.
    domains
        Token counts and sources; None where they are not known, and then nothing can be capped.
    families
        ``{family: [outputs]}``; outputs that are in none share one of their own.
    replicates
        The surrogate refitted on resampled runs, for the interval of the gain.
    level
        The level of that interval.
    made_from
        What an exported mix says of its origin.
    """

    surrogate: Surrogate
    request: Request
    natural: Mix
    domains: DomainSet | None = None
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    replicates: Sequence[Surrogate] = ()
    level: float = 0.9
    title: str = "Mix explorer"
    unit: str = "BPB"
    made_from: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a law that the page cannot solve."""
        if not self.surrogate.regressor.terms():
            raise OlmixError(
                f"explorer: the family '{self.surrogate.regressor.family}' has no terms "
                "c + exp(a + A·p − B·g(p)) that a page could solve; use log_linear"
            )

    def to_dict(self) -> dict[str, Any]:
        """Everything the page reads, as plain JSON values."""
        surrogate, request = self.surrogate, self.request
        return {
            "title": self.title,
            "unit": self.unit,
            "level": self.level,
            "family": surrogate.regressor.family,
            "domains": list(surrogate.domains),
            "sources": self._sources(),
            "tokens": None if self.domains is None else request.tokens.tolist(),
            "natural": self.natural.aligned(surrogate.domains).weights.tolist(),
            "prior": request.prior.weights.tolist(),
            "tasks": list(surrogate.outputs),
            "labels": _labels(surrogate.outputs),
            "families": self._families(),
            "shares": surrogate.weights.tolist(),
            "law": packed_law(surrogate.regressor.terms(), "<f8"),
            "replicates": [
                packed_law(model.regressor.terms(), "<f4")
                for model in self.replicates[:MOST_REPLICATES]
            ],
            "request": {
                "kl": request.kl,
                "repetition": request.repetition if np.isfinite(request.repetition) else None,
                "requested": request.requested,
            },
            "made_from": dict(self.made_from),
        }

    def _sources(self) -> list[str]:
        """The source of every domain."""
        if self.domains is not None:
            return [self.domains[name].source for name in self.surrogate.domains]
        return [Domain.named(name, 1).source for name in self.surrogate.domains]

    def _families(self) -> list[dict[str, Any]]:
        """Every family with the places of its outputs."""
        outputs = self.surrogate.outputs
        groups = {
            family: [outputs.index(task) for task in tasks if task in outputs]
            for family, tasks in self.families.items()
        }
        placed = {place for places in groups.values() for place in places}
        groups["all"] = [place for place in range(len(outputs)) if place not in placed]
        return [{"name": name, "tasks": places} for name, places in groups.items() if places]


def packed_law(terms: Sequence[Term], kind: str) -> list[dict[str, Any]]:
    """Member laws, their numbers as base64 of floats of a kind (``<f8``, or ``<f4`` for less)."""

    def packed(values: np.ndarray) -> str:
        return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()

    return [
        {
            "family": spoken(term.family),
            "weight": packed(term.weight),
            "constant": packed(term.constant),
            "intercept": packed(term.intercept),
            "linear": packed(term.linear),
            "curved": None if term.curved is None else packed(term.curved),
            "shift": None if term.shift is None else packed(term.shift),
        }
        for term in terms
    ]


def _labels(outputs: Sequence[str]) -> list[str]:
    """Task names without the evaluation suite's suffixes, where they stay distinct."""
    short = [name.split("::")[0].removesuffix(":rc") for name in outputs]
    return short if len(set(short)) == len(short) else list(outputs)
