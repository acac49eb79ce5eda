"""A mixing method after its swarm: which regression, at which granularity, which solver.

The choices of the paper's design table that are made once the runs are finished; OlmixBase's are in
`config/methods/olmix_base.yaml` (`olmix.study.proposals.olmix_base`). The choices before (proxy
size, swarm size, swarm distribution) are in `olmix.swarm.sampling` and `olmix.updates.planning`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from olmix.proposers import solver_of
from olmix.proposers.proposal import Proposal, Request
from olmix.regressors import FAMILIES
from olmix.regressors.surrogate import Surrogate, fit_surrogate
from olmix.tables import SwarmTable

__all__ = ["Method"]

# A family that only remembers its runs has nothing to optimise: its answer is the best run.
_REMEMBERS = "best_run"


@dataclass(frozen=True)
class Method:
    """Regression family, granularity and proposer, with their settings."""

    regressor: str
    granularity: str
    proposer: str
    regressor_settings: Mapping[str, Any] = field(default_factory=dict)
    search_settings: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a solver that does not exist."""
        solver_of(self.proposer)

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
        own = FAMILIES[self.regressor].solver
        solver = solver_of(own if own == _REMEMBERS else self.proposer)
        return solver.function()(
            surrogate, swarm, request, seed=seed, settings=self.search_settings
        )
