"""From a `ProposalSpec` to a fitted model and a mix, on a collected swarm."""

from collections.abc import Mapping

import numpy as np

from olmix.collapse import Collapse
from olmix.errors import OlmixError
from olmix.method import Method
from olmix.proposers.proposal import Proposal
from olmix.proposers.search import propose_search
from olmix.study.spec import ProposalSpec
from olmix.surrogate import Surrogate
from olmix.tables import SwarmTable

__all__ = ["chosen_runs", "fit_proposal", "make_proposal"]


def chosen_runs(spec: ProposalSpec, swarm: SwarmTable) -> SwarmTable:
    """The runs a proposal is fitted on: all, or so many drawn with its seed."""
    if spec.runs is None:
        return swarm
    if spec.runs > len(swarm):
        raise OlmixError(
            f"proposal '{spec.name}' wants {spec.runs} runs, swarm '{spec.swarm}' has {len(swarm)}"
        )
    order = np.random.default_rng(spec.seed).permutation(len(swarm))
    return swarm.rows(np.sort(order[: spec.runs]))


def _method(spec: ProposalSpec) -> Method:
    return Method(spec.regressor, spec.granularity, spec.proposer)


def fit_proposal(
    spec: ProposalSpec, swarm: SwarmTable, families: Mapping[str, list[str]]
) -> Surrogate:
    """The model behind a proposal."""
    return _method(spec).fit(chosen_runs(spec, swarm), families)


def make_proposal(
    spec: ProposalSpec, model: Surrogate, swarm: SwarmTable, space: Collapse, requested: float
) -> Proposal:
    """The proposed mix over single domains, under the spec's request."""
    request = space.request(
        kl=spec.kl,
        repetition=np.inf if spec.repetition is None else spec.repetition,
        requested=requested,
    )
    if spec.maximise:
        proposal = propose_search(model, request, seed=spec.seed, maximise=True)
    else:
        runs = chosen_runs(spec, swarm)
        proposal = _method(spec).propose(model, runs, request, seed=spec.seed)
    return space.expand_proposal(proposal, request)
