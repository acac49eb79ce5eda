"""CLIMB: three rounds, each drawn from what boosted trees on all runs so far rank highest."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from olmix.proposers.proposal import Proposal, Request, within_caps
from olmix.swarm.tempered import tempered_dirichlet
from olmix.systems.kinds.rounds import Done, NextRuns, Rounds

if TYPE_CHECKING:
    from olmix.regressors.surrogate import Surrogate

__all__ = ["CLIMB"]

_BOOSTED = {
    "learning_rate": 0.01,
    "iterations": 1000,
    "depth": 4,
    "smallest_leaf": 5,
    "l1": 1.0,
    "l2": 1.0,
    "held_out": 0.1,
}


class CLIMB(Rounds):
    """Iterative search with a LightGBM predictor of the average.

    A later round of n runs is drawn from the top max(n², 128) of ``candidates`` mixes; the answer
    is the best of as many.
    """

    def __init__(
        self,
        models: Mapping[str, float],
        *,
        candidates: int = 100_000,
    ) -> None:
        super().__init__(models)
        self.candidates = candidates

    def first(self, request: Request, size: int, *, seed: int) -> NextRuns:
        """Mixes around the tempered token shares."""
        mixes = tempered_dirichlet(request.prior.weights, size, seed=seed)
        return NextRuns(mixes, (self.largest,) * size)

    def following(self, done: Done, request: Request, size: int, *, seed: int) -> NextRuns:
        """Some of the mixes that are predicted to be best."""
        drawn = tempered_dirichlet(request.prior.weights, self.candidates, seed=seed)
        drawn = within_caps(drawn, request.caps)
        order = np.argsort(self._fit(done).average(drawn), kind="stable")
        top = order[: max(size**2, 128)]
        chosen = np.random.default_rng(seed).choice(top, size, replace=False)
        return NextRuns(drawn[np.sort(chosen)], (self.largest,) * size)

    def propose(self, done: Done, request: Request, *, seed: int) -> Proposal:
        """The best predicted of all candidates."""
        from olmix.proposers.simulated import propose_simulated

        fitted = self._fit(done)
        return propose_simulated(fitted, request, seed=seed + 1, candidates=self.candidates, kept=1)

    def _fit(self, done: Done) -> "Surrogate":
        from olmix.regressors.surrogate import fit_surrogate

        return fit_surrogate(
            done.swarm, family="lightgbm", granularity="aggregated", settings=_BOOSTED
        )


ALGORITHM = CLIMB
