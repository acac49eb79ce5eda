"""What a proposer is asked, what it answers, and the repetition caps between them (§3.3, RQ6)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet, check_caps
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.mix import Mix

__all__ = ["CUT", "Proposal", "Request", "kl_divergence", "read_mix", "within_caps"]

#: What a proposal's status says beside how it was found, where the caps had the last word.
CUT = "cut to the caps"

# A cap counts as active when the weight comes within this share of it.
_ACTIVE = 1e-6


@dataclass(frozen=True)
class Request:
    """The optimisation problem: over which domains, near which mix, under which caps.

    Parameters
    ----------
    prior
        p₀ of the KL term, and the centre of a search.
    kl
        λ, the weight of KL(p‖p₀).
    tokens
        N_j, what each domain has to give.
    repetition
        k, how often a token may be seen; infinite for no caps.
    requested
        R, the tokens of the target run; None if unknown, and then nothing is capped.
    """

    prior: Mix
    kl: float
    tokens: np.ndarray
    repetition: float = np.inf
    requested: float | None = None

    def __post_init__(self) -> None:
        """Refuse a request that has no answer, before any solver sees it."""
        for what, value in (("repetition factor", self.repetition), ("requested", self.requested)):
            if value is not None and not value > 0:
                raise OlmixError(f"{what}: {value}, expected more than 0")
        if not (np.isfinite(self.kl) and self.kl >= 0):
            raise OlmixError(f"KL weight is {self.kl}, expected a finite number of 0 or more")
        if self.kl > 0 and (self.prior.weights <= 0).any():
            name = self.prior.names[int(np.argmin(self.prior.weights))]
            raise OlmixError(
                f"prior: '{name}' has weight 0, so KL(p‖p₀) forbids it; give it weight, or drop it"
            )
        check_caps(self.prior.names, self.caps, self.requested)

    @classmethod
    def for_domains(
        cls,
        domains: DomainSet,
        *,
        kl: float = 0.05,
        repetition: float = np.inf,
        requested: float | None = None,
        prior: Mix | None = None,
    ) -> "Request":
        """The request of OlmixBase over a domain set; the prior is natural unless given."""
        prior = domains.natural() if prior is None else prior.aligned(domains.names)
        return cls(prior, kl, domains.tokens.astype(float), repetition, requested)

    @property
    def domains(self) -> tuple[str, ...]:
        """The names the answer will be over, in order."""
        return self.prior.names

    @property
    def caps(self) -> np.ndarray:
        """k·N_j/R for each domain, infinite where nothing is capped."""
        if self.requested is None:
            return np.full(len(self.tokens), np.inf)
        return self.repetition * self.tokens / self.requested


@dataclass(frozen=True)
class Proposal:
    """A proposed mix and how it came to be; ``mix.json`` on disk.

    ``objective``, ``average`` and ``predicted`` are None and empty where nothing was predicted:
    the mix was carried over, not optimised.
    """

    mix: Mix
    status: str
    objective: float | None
    average: float | None
    predicted: dict[str, float]
    caps: dict[str, float | None]  # None where a domain has no cap
    active_caps: tuple[str, ...]
    repetition: dict[str, float] | None  # how often each domain is seen in R tokens
    solver: dict[str, Any]
    made_from: dict[str, Any]

    @classmethod
    def from_weights(
        cls,
        weights: np.ndarray,
        request: Request,
        *,
        status: str,
        solver: dict[str, Any],
        objective: float | None = None,
        average: float | None = None,
        predicted: dict[str, float] | None = None,
    ) -> "Proposal":
        """The proposal of some weights, with what every proposer reports alike."""
        caps = request.caps
        active = np.isfinite(caps) & (weights >= caps * (1 - _ACTIVE))
        seen = None
        if request.requested is not None:
            times = weights * request.requested / request.tokens
            seen = dict(zip(request.domains, times.tolist(), strict=True))
        return cls(
            mix=Mix(request.domains, weights),
            status=status,
            objective=None if objective is None else float(objective),
            average=None if average is None else float(average),
            predicted=predicted or {},
            caps={
                name: float(cap) if np.isfinite(cap) else None
                for name, cap in zip(request.domains, caps, strict=True)
            },
            active_caps=tuple(n for n, a in zip(request.domains, active, strict=True) if a),
            repetition=seen,
            solver=solver | {"kl": request.kl, "prior": request.prior.to_dict()},
            made_from={},
        )

    def to_dict(self) -> dict[str, Any]:
        """The proposal as plain JSON values."""
        return {
            "domains": list(self.mix.names),
            "weights": self.mix.weights.tolist(),
            "status": self.status,
            "objective": self.objective,
            "average": self.average,
            "predicted": self.predicted,
            "caps": self.caps,
            "active_caps": list(self.active_caps),
            "repetition": self.repetition,
            "solver": self.solver,
            "made_from": self.made_from,
        }

    def save(self, path: str | Path) -> None:
        """Write ``mix.json``."""
        write_json(path, self.to_dict())


def read_mix(path: str | Path) -> Mix:
    """The mix of a ``mix.json``, or of a plain ``{domain: weight}`` file."""
    record = read_json(path)
    if not isinstance(record, dict):
        raise OlmixError(f"{path}: holds {type(record).__name__}, expected {{domain: weight}}")
    try:
        if "domains" in record and "weights" in record:
            return Mix(tuple(record["domains"]), record["weights"])
        return Mix.from_dict(record)
    except (OlmixError, TypeError) as error:
        raise OlmixError(f"{path}: {error}") from None


def kl_divergence(weights: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """KL(p‖p₀) of each row, with 0·log 0 = 0."""
    safe = np.where(weights > 0, weights, 1.0)
    return (weights * np.log(safe / np.where(weights > 0, prior, 1.0))).sum(-1)


def within_caps(weights: np.ndarray, caps: np.ndarray) -> np.ndarray:
    """The nearest mixes that meet the caps, keeping the ratios of the uncapped weights.

    Weights above their cap are cut to it and what is cut goes to the others in proportion to
    their weights (to their caps, where only zeros are left), until nothing exceeds. Rows are mixes.
    """
    weights = np.clip(np.atleast_2d(np.asarray(weights, dtype=float)), 0.0, None)
    weights = weights / weights.sum(1, keepdims=True)
    finite_caps = np.minimum(caps, 1.0)
    for _ in range(len(caps) + 1):
        capped = weights >= finite_caps
        excess = 1.0 - np.where(capped, finite_caps, weights).sum(1)
        if (excess <= 1e-15).all():
            break
        room = np.where(capped, 0.0, weights)
        # Where all free weights are zero, fill them by their caps instead.
        empty = (room.sum(1) <= 0) & (excess > 1e-15)
        room[empty] = np.where(capped[empty], 0.0, finite_caps - weights[empty])
        share = excess / np.where(room.sum(1) > 0, room.sum(1), 1.0)
        weights = np.where(capped, finite_caps, weights + share[:, None] * room)
    return np.minimum(weights, finite_caps)
