"""A mixing method after its swarm: which regression, at which granularity, which solver.

The choices of the paper's design table that are made once the runs are finished; `OLMIX_BASE` is
Algorithm 1. The choices before (proxy size, swarm size, swarm distribution) are in `olmix.swarm`
and `olmix.planning`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from olmix.errors import OlmixError
from olmix.proposers.best_run import propose_best_run
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.search import propose_search
from olmix.surrogate import Surrogate, fit_surrogate
from olmix.tables import SwarmTable

__all__ = ["OLMIX_BASE", "PROPOSERS", "Method"]

PROPOSERS = ("exact", "search", "best_run")


@dataclass(frozen=True)
class Method:
    """Regression family, granularity and proposer, with their settings."""

    regressor: str = "log_linear"
    granularity: str = "task"
    proposer: str = "exact"
    regressor_settings: Mapping[str, Any] = field(default_factory=dict)
    search_settings: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a proposer that does not exist."""
        if self.proposer not in PROPOSERS:
            raise OlmixError(f"proposer {self.proposer!r}: expected one of {', '.join(PROPOSERS)}")

    def fit(self, swarm: SwarmTable, families: Mapping[str, list[str]] | None = None) -> Surrogate:
        """The surrogate of a finished swarm."""
        return fit_surrogate(
            swarm,
            family=self.regressor,
            granularity=self.granularity,
            families=families,
            settings=self.regressor_settings,
        )

    def propose(
        self, surrogate: Surrogate, swarm: SwarmTable, request: Request, *, seed: int = 0
    ) -> Proposal:
        """The mix this method answers a request with."""
        # A family that only remembers its runs has nothing to optimise: its answer is the best run.
        if self.proposer == "best_run" or self.regressor == "search":
            return propose_best_run(swarm, request)
        if self.proposer == "search":
            return propose_search(surrogate, request, seed=seed, **self.search_settings)
        return propose_exact(surrogate, request)


OLMIX_BASE = Method()
