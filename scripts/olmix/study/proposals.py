"""From a `ProposalSpec` to a fitted model and a mix, on a collected swarm."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.paths import CONFIG
from olmix.proposers.method import Method
from olmix.proposers.proposal import Proposal, Request, read_mix
from olmix.proposers.search import propose_search
from olmix.regressors.surrogate import Surrogate
from olmix.study.methods import OLMIX_BASE, load_methods
from olmix.study.space import open_space
from olmix.study.spec import FixedMixSpec, ProposalSpec
from olmix.tables import SwarmTable
from olmix.updates.collapse import Collapse
from olmix.updates.reuse import keep_ratios
from olmix.updates.sequence import UpdateSequence

__all__ = ["chosen_runs", "fit_proposal", "fixed_mix", "make_proposal", "olmix_base"]


@cache
def olmix_base(methods: str | Path = CONFIG / "methods") -> Method:
    """OlmixBase after its swarm, as its file says: for what is not planned by the workflow."""
    base = load_methods(methods)[OLMIX_BASE]
    return Method(base.regression_family, base.granularity, base.proposer)


def chosen_runs(spec: ProposalSpec, swarm: SwarmTable) -> SwarmTable:
    """The runs a proposal is fitted on, with tasks as they count: all, or so many by its seed."""
    if spec.task_weights:
        swarm = swarm.weighted(spec.task_weights)
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


def fixed_mix(
    spec: FixedMixSpec, sequence: UpdateSequence, repetition: float, requested: float
) -> Proposal:
    """A mix that needs no runs, over the domains of its stage."""
    space = open_space(spec.space, sequence)
    if spec.kind == "reused":
        return keep_ratios(space, repetition=repetition, requested=requested)
    domains = space.domains
    if spec.kind == "natural":
        mix = domains.natural()
    elif spec.kind == "uniform":
        mix = Mix(domains.names, np.full(len(domains), 1 / len(domains)))
    elif spec.kind == "kept" and spec.space.existing is not None:
        mix = _kept(read_mix(spec.space.existing), domains, sequence, spec.space.stage)
    else:
        raise OlmixError(
            f"mix '{spec.name}': kind is '{spec.kind}', expected natural, uniform, ..."
        )
    request = Request.for_domains(domains, kl=0.0, requested=requested)
    return Proposal.from_weights(mix.weights, request, status="fixed", solver={"name": "none"})


def _kept(mix: Mix, domains: DomainSet, sequence: UpdateSequence, stage: str) -> Mix:
    """The mix before an update on the domains after it, in its ratios.

    What was added has no weight yet; what was split has the whole's, by size.
    """
    weights = dict.fromkeys(domains.names, 0.0)
    for name, weight in mix.to_dict().items():
        parts = sequence.parts(stage).get(name, (name,))
        there = [part for part in parts if part in domains]
        total = sum(domains[part].tokens for part in there)
        for part in there:
            weights[part] += weight * domains[part].tokens / total
    whole = sum(weights.values())
    if not whole:
        raise OlmixError(f"stage '{stage}': no domain of the mix before it is left")
    return Mix.from_dict({name: weight / whole for name, weight in weights.items()})


def make_proposal(
    spec: ProposalSpec,
    model: Surrogate,
    swarm: SwarmTable,
    space: Collapse,
    requested: float,
    search: Mapping[str, int] = MappingProxyType({}),
) -> Proposal:
    """The proposed mix over single domains, under the spec's request.

    ``search`` are settings of the search solver: how many candidates a round tries.
    """
    request = space.request(
        kl=spec.kl,
        repetition=np.inf if spec.repetition is None else spec.repetition,
        requested=requested,
    )
    if spec.maximise:
        proposal = propose_search(model, request, seed=spec.seed, maximise=True, **search)
    else:
        runs = chosen_runs(spec, swarm)
        method = replace(_method(spec), search_settings=search)
        proposal = method.propose(model, runs, request, seed=spec.seed)
    return space.expand_proposal(proposal, request)
