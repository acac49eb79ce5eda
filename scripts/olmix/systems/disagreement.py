"""OlmixBase in rounds: the next runs are where the laws disagree most about the optimum.

Several laws fit the runs so far about equally well and say different things of the mixes that
matter, those near an optimum. Runs there tell the laws apart; runs elsewhere do not. The rounds end
when a bootstrap over the runs is sure enough of the gain that the proposed mix is predicted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from olmix.proposers.proposal import Proposal, Request, within_caps
from olmix.regressors import FAMILIES
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
from olmix.systems.kinds.rounds import Done, NextRuns, Rounds

if TYPE_CHECKING:
    from olmix.proposers.method import Method
    from olmix.regressors.surrogate import Surrogate
    from olmix.tables import SwarmTable

__all__ = ["Disagreement", "most_disputed"]

_REPLICATES = 30
_AROUND = 400
_CONCENTRATION = 60.0
_SEARCHED = 4000


def most_disputed(
    candidates: np.ndarray, predictions: np.ndarray, size: int, *, near: float
) -> np.ndarray:
    """Indices of ``size`` candidates that laws disagree about, among those that may be best.

    ``predictions`` (laws, candidates) are average BPB. A candidate may be best if some law puts it
    within ``near`` of that law's best. Of those, the one with the largest spread between laws is
    taken; what it will tell of its neighbours is taken off them (a Gaussian process over the
    laws' opinions, conditioned on it), and so on.
    """
    allowed = (predictions <= predictions.min(1, keepdims=True) + near).any(0)
    # A constant offset between two laws moves no optimum.
    opinions = predictions - predictions.mean(1, keepdims=True)
    opinions = opinions - opinions.mean(0)
    chosen: list[int] = []
    for _ in range(min(size, int(allowed.sum()))):
        spread = np.where(allowed, (opinions**2).sum(0), -1.0)
        spread[chosen] = -1.0
        best = int(spread.argmax())
        chosen.append(best)
        direction = opinions[:, best]
        length = float(direction @ direction)
        if length > 0:
            opinions = opinions - np.outer(direction, direction @ opinions) / length
    return np.array(chosen, dtype=int)


class Disagreement(Rounds):
    """Log-linear proposals, with ``laws`` (regression families) and replicas to ask beside them.

    ``near`` is how far from a law's best BPB a mix may be (as a share of it) to be worth a run;
    rounds end when the interval of the predicted gain over natural is narrower than ``tolerance``.
    """

    def __init__(
        self,
        models: Mapping[str, float],
        *,
        laws: Sequence[str] = ("log_linear", "bimix", "autoscale", "gaussian_process"),
        near: float = 0.02,
        tolerance: float = 0.02,
    ) -> None:
        super().__init__(models)
        self.laws = tuple(laws)
        self.near, self.tolerance = near, tolerance

    def first(self, request: Request, size: int, *, seed: int) -> NextRuns:
        """OlmixBase's own swarm, smaller."""
        swarm = sample_swarm(request.prior, size, seed=seed, distribution=SwarmDistribution())
        return NextRuns(swarm.mixes, (self.largest,) * size)

    def following(self, done: Done, request: Request, size: int, *, seed: int) -> NextRuns:
        """The most disputed mixes near the laws' optima; none if the gain is known well enough."""
        low, high = self.gain_interval(done, request, seed=seed)
        known = f"predicted gain {low:.1%} to {high:.1%} ({len(done.swarm)} runs)"
        if high - low < self.tolerance:
            return NextRuns(np.empty((0, len(request.domains))), (), f"{known}: narrow enough")
        opinions = self._opinions(done, request, seed=seed)
        rng = np.random.default_rng(seed)
        optima = np.array([optimum for _, optimum in opinions])
        drawn = [
            rng.dirichlet(np.maximum(_CONCENTRATION * optimum, 1e-2), _AROUND)
            for optimum in np.unique(np.round(optima, 6), axis=0)
        ]
        candidates = within_caps(np.vstack([optima, *drawn]), request.caps)
        predictions = np.array([law.average(candidates) for law, _ in opinions])
        near = self.near * float(np.median(predictions.min(1)))
        chosen = most_disputed(candidates, predictions, size, near=near)
        return NextRuns(candidates[chosen], (self.largest,) * len(chosen), known)

    def propose(self, done: Done, request: Request, *, seed: int) -> Proposal:
        """What OlmixBase proposes from all runs."""
        fitted = done.method.fit(done.swarm, done.families)
        return done.method.propose(fitted, done.swarm, request, seed=seed)

    def gain_interval(self, done: Done, request: Request, *, seed: int) -> tuple[float, float]:
        """The interval of the proposed mix's predicted gain over the prior."""
        from olmix.proposers.uncertainty import bootstrap

        method, swarm = done.method, done.swarm
        fitted = method.fit(swarm, done.families)
        spread = bootstrap(
            swarm,
            fitted,
            request,
            method.propose(fitted, swarm, request, seed=seed),
            lambda law, asked: method.propose(law, swarm, asked, seed=seed),
            baseline=request.prior,
            families=done.families,
            replicates=_REPLICATES,
            seed=seed,
        )
        return spread.gain_interval()

    def _opinions(
        self, done: Done, request: Request, *, seed: int
    ) -> "list[tuple[Surrogate, np.ndarray]]":
        """Laws and what each holds for the optimum: of every family, and of resampled runs."""
        found = [
            _opinion(_with_family(done.method, family), done.swarm, done, request, seed)
            for family in self.laws
        ]
        rng = np.random.default_rng(seed)
        for _ in self.laws:
            rows = np.sort(rng.integers(len(done.swarm), size=len(done.swarm)))
            found.append(_opinion(done.method, done.swarm.rows(rows), done, request, seed))
        return found


def _with_family(method: "Method", family: str) -> "Method":
    """The method with another regression family, and a solver that can take it."""
    if FAMILIES[family].convex:
        return replace(method, regressor=family)
    few = {"candidates": _SEARCHED}
    return replace(method, regressor=family, proposer="search", search_settings=few)


def _opinion(
    method: "Method", swarm: "SwarmTable", done: Done, request: Request, seed: int
) -> "tuple[Surrogate, np.ndarray]":
    law = method.fit(swarm, done.families)
    return law, method.propose(law, swarm, request, seed=seed).mix.weights


ALGORITHM = Disagreement
