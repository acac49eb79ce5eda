"""Systems at run time: the runs of their next round, and the mixes that they answer with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from olmix.corpus.store import Corpus
from olmix.corpus.stretch import DomainStream
from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.proposers.method import Method
from olmix.proposers.proposal import Proposal, Request, within_caps
from olmix.study.steered_runs import unstored
from olmix.study.systems import System
from olmix.systems import with_settings
from olmix.systems.kinds.fixed import Fixed
from olmix.systems.kinds.from_model import FromModel
from olmix.systems.kinds.rounds import Done, NextRuns, Rounds
from olmix.tables import SwarmTable, read_swarm
from olmix.training.settings import RunSettings
from olmix.updates.auto_reuse import join_swarms

__all__ = ["RoundRuns", "RunsSoFar", "answer", "ask", "read_rounds", "system_request"]


@dataclass(frozen=True)
class RoundRuns:
    """The runs of a round: what they measured, and the model of each."""

    swarm: SwarmTable
    models: tuple[str, ...]


@dataclass(frozen=True)
class RunsSoFar:
    """The runs so far that systems answer from.

    ``rounds`` are the runs of rounds by swarm (None for a round without any), ``runs`` the folder
    of a swarm's one run, ``families`` the tasks'.
    """

    domains: DomainSet
    rounds: Mapping[str, RoundRuns | None] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    families: Mapping[str, list[str]] = field(default_factory=dict)
    corpus: Path | None = None


def read_rounds(
    names: Sequence[str], asked: Sequence[str], ratios: Sequence[str], metrics: Sequence[str]
) -> dict[str, RoundRuns | None]:
    """The runs of rounds from the files that their jobs wrote."""
    found: dict[str, RoundRuns | None] = {}
    for name, asking, mixed, measured in zip(names, asked, ratios, metrics, strict=True):
        models = read_json(asking)["models"]
        found[name] = None
        if models:
            swarm = read_swarm(mixed, measured)
            found[name] = RoundRuns(swarm, tuple(models[run] for run in swarm.runs))
    return found


def system_request(
    system: System, domains: DomainSet, *, kl: float, repetition: float, requested: float
) -> Request:
    """What is asked of a system: caps only if it keeps to them."""
    factor = repetition if system.repetition_constraint else np.inf
    return Request.for_domains(domains, kl=kl, repetition=factor, requested=requested)


def ask(
    system: System,
    before: Sequence[str],
    told: Mapping[str, Any],
    evidence: RunsSoFar,
    request: Request,
    *,
    size: int,
    seed: int,
) -> NextRuns:
    """The at most ``size`` runs of a round, from those of the rounds ``before``."""
    done = _done(before, evidence, Method(**told["method"]))
    return _in_rounds(system, told).ask(done, request, size, seed=seed)


def answer(
    system: System,
    swarms: Sequence[str],
    told: Mapping[str, Any],
    evidence: RunsSoFar,
    request: Request,
) -> Proposal:
    """The mix that a static system answers with, under the request's caps."""
    if system.kind is Rounds:
        done = _done(swarms, evidence, Method(**told["method"]))
        assert done is not None
        proposal = _in_rounds(system, told).propose(done, request, seed=0)
        runs = {model: done.models.count(model) for model in dict.fromkeys(done.models)}
        return replace(proposal, made_from=proposal.made_from | {"runs": runs})
    weights = _weights(system, swarms, evidence, request)
    return Proposal.from_weights(
        within_caps(weights, request.caps)[0],
        request,
        status="answered",
        solver={"name": system.algorithm},
    )


def _weights(
    system: System, swarms: Sequence[str], evidence: RunsSoFar, request: Request
) -> np.ndarray:
    """The weights that a system without a swarm gives the domains."""
    if system.kind is Fixed:
        made = with_settings(system.algorithm, settings=dict(system.settings))
        return made.mix(request.tokens, request.requested)
    assert evidence.corpus is not None
    corpus, (swarm,) = Corpus.open(evidence.corpus), swarms
    record = read_json(evidence.runs[swarm] / "run.json")
    found = record.get("answer")
    if system.kind is FromModel:
        found = _seen_by(system, evidence.runs[swarm], record, corpus)
    return unstored(found, evidence.domains, corpus.token_counts).weights


def _seen_by(
    system: System, run: Path, record: Mapping[str, Any], corpus: Corpus
) -> dict[str, float]:
    """The mix over a run's stored domains that its model leads to."""
    from olmix.model.weights import load_model

    settings = RunSettings.from_dict(record["settings"])
    names = sorted(settings.mix)
    streams = [DomainStream(corpus[name], settings.sequence_length, seed=0) for name in names]
    made = with_settings(system.algorithm, settings=dict(system.settings))
    weights = made.mix(load_model(run / "weights.safetensors"), streams)
    return dict(zip(names, weights.tolist(), strict=True))


def _in_rounds(system: System, told: Mapping[str, Any]) -> Rounds:
    return with_settings(system.algorithm, dict(told["models"]), settings=dict(system.settings))


def _done(swarms: Sequence[str], evidence: RunsSoFar, method: Method) -> Done | None:
    """All runs of some rounds; None if there are none."""
    rounds = [found for name in swarms if (found := evidence.rounds[name]) is not None]
    if not rounds:
        return None
    swarm, models = rounds[0].swarm, rounds[0].models
    for later in rounds[1:]:
        swarm, models = join_swarms(swarm, later.swarm), models + later.models
    return Done(swarm, models, method, evidence.families)
