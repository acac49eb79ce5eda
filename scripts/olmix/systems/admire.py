"""ADMIRE-BayesOpt: Bayesian optimisation over mixes and model sizes, one run at a time.

The Gaussian process and the acquisition are BoTorch's, an extra dependency (envs/README.md).
"""

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.proposal import Proposal, Request, within_caps
from olmix.swarm.tempered import tempered_dirichlet
from olmix.systems.kinds.rounds import Done, NextRuns, Rounds

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Admire", "lacks"]

# Weights and fidelities closer than this are those of a run that is done: tables are rounded.
_SAME = 1e-6


def lacks() -> str:
    """Say that the extra dependency is not here, if so."""
    return "" if find_spec("botorch") else "BoTorch (pip install -r envs/botorch.lock)"


class Admire(Rounds):
    """Multi-fidelity max-value entropy search over a finite pool of mixes.

    A Gaussian process over [weights, fidelity] predicts the average, the fidelity of a model being
    the cost of its run in runs of the largest. The first run is a random mix with the smallest
    model; every later one is the (mix, model), not trained yet, with the most information about the
    best average at the largest model per cost. The answer is the mix of the pool that the same
    criterion puts first at the largest model.
    """

    def __init__(
        self,
        models: Mapping[str, float],
        *,
        pool: int = 512,
    ) -> None:
        super().__init__(models)
        if lacks():
            raise OlmixError(f"ADMIRE-BayesOpt needs {lacks()}")
        self.pool = pool

    def first(self, request: Request, size: int, *, seed: int) -> NextRuns:
        """Random mixes of the pool, with the cheapest model."""
        self._check_left(self.pool, size)
        chosen = np.random.default_rng(seed).choice(self.pool, size, replace=False)
        return NextRuns(self._pool(request)[chosen], (next(iter(self.models)),) * size)

    def following(self, done: Done, request: Request, size: int, *, seed: int) -> NextRuns:
        """The most informative runs per cost, each knowing that the others will be made."""
        import torch

        pool, process = self._pool(request), self._fit(done)
        options = torch.cat([self._points(pool, model) for model in self.models])
        known = torch.cdist(options, process.train_inputs[0]).amin(1) < _SAME
        self._check_left(int((~known).sum()), size)
        acquisition = self._acquisition(process, pool, seed=seed)
        chosen: list[int] = []
        for _ in range(size):
            if chosen:
                acquisition.set_X_pending(options[chosen])
            scores = _scores(acquisition, options)
            scores[known], scores[chosen] = -torch.inf, -torch.inf
            chosen.append(int(scores.argmax()))
        mixes = pool[[index % len(pool) for index in chosen]]
        names = list(self.models)
        return NextRuns(mixes, tuple(names[index // len(pool)] for index in chosen))

    def propose(self, done: Done, request: Request, *, seed: int) -> Proposal:
        """The mix of the pool that the acquisition puts first at the largest model."""
        pool = within_caps(self._pool(request), request.caps)
        process, points = self._fit(done), self._points(pool, self.largest)
        best = int(_scores(self._acquisition(process, pool, seed=seed), points).argmax())
        return Proposal.from_weights(
            pool[best],
            request,
            status="recommended",
            average=-process.posterior(points[best : best + 1]).mean.item(),
            solver={"name": "admire", "pool": self.pool, "seed": seed},
        )

    def _acquisition(self, process: Any, pool: np.ndarray, *, seed: int) -> Any:
        """Information about the best average at the largest model, per cost; BoTorch's."""
        import torch
        from botorch.acquisition.cost_aware import InverseCostWeightedUtility
        from botorch.acquisition.max_value_entropy_search import qMultiFidelityMaxValueEntropy
        from botorch.models.cost import AffineFidelityCostModel

        torch.manual_seed(seed)
        cost = AffineFidelityCostModel(fidelity_weights={pool.shape[1]: 1.0}, fixed_cost=1e-6)
        return qMultiFidelityMaxValueEntropy(
            process,
            candidate_set=self._points(pool, self.largest),
            num_fantasies=4,  # of runs under way, where a round has several
            cost_aware_utility=InverseCostWeightedUtility(cost_model=cost),
            project=lambda points: torch.cat(
                [points[..., :-1], torch.ones_like(points[..., -1:])], -1
            ),
        )

    def _check_left(self, left: int, size: int) -> None:
        """Refuse a round of more runs than there are left to choose from."""
        if size > left:
            raise OlmixError(
                f"ADMIRE-BayesOpt: {size} runs asked of a pool of {self.pool} mixes, with {left} "
                "left that were not trained; raise its setting `pool`"
            )

    def _pool(self, request: Request) -> np.ndarray:
        """The pool of mixes to choose from, the same in every round."""
        return tempered_dirichlet(request.prior.weights, self.pool, seed=0)

    def _points(self, mixes: np.ndarray, model: str) -> "Tensor":
        """[weights, fidelity] of mixes trained with a model."""
        import torch

        fidelity = np.full((len(mixes), 1), self.models[model])
        return torch.from_numpy(np.hstack([mixes, fidelity]))

    def _fit(self, done: Done) -> Any:
        """The Gaussian process of minus the average BPB."""
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskMultiFidelityGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        mixes = done.swarm.mixes
        points = torch.cat(
            [self._points(mixes[row : row + 1], model) for row, model in enumerate(done.models)]
        )
        values = torch.from_numpy(-done.swarm.metrics.mean(1, keepdims=True))
        with warnings.catch_warnings():
            # Weights are in [0, 1] and a first run alone has no spread: both are as they should be.
            warnings.simplefilter("ignore")
            process = SingleTaskMultiFidelityGP(
                points, values, data_fidelities=[-1 + points.shape[1]]
            )
            fit_gpytorch_mll(ExactMarginalLogLikelihood(process.likelihood, process))
        return process


def _scores(acquisition: Any, options: "Tensor") -> "Tensor":
    """The acquisition of each option alone."""
    import torch

    with torch.no_grad():
        return torch.cat([acquisition(part[:, None]) for part in options.split(256)])


ALGORITHM = Admire
