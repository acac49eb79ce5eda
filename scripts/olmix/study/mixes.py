"""Sampling the mixes of a swarm, and collecting what its runs measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.proposal import read_mix
from olmix.study.space import open_space
from olmix.study.spec import MixesSpec
from olmix.swarm import Swarm, SwarmDistribution, sample_swarm
from olmix.update_sequence import UpdateSequence, load_updates

__all__ = ["collect_metrics", "load_sequence", "sample_mixes"]

# A proposal used as a Dirichlet prior may leave a domain without weight, and a Dirichlet cannot.
_FLOOR_SHARE = 0.01


def load_sequence(updates: str | Path, domains: DomainSet) -> UpdateSequence:
    """The scale's stages on the domains as counted."""
    return load_updates(updates, domains)


def sample_mixes(
    spec: MixesSpec,
    sequence: UpdateSequence,
    *,
    prior: str | Path | None,
    distributions: Mapping[str, Mapping[str, Any]],
    repetition: float,
    requested: float,
) -> Swarm:
    """The mixes of a `MixesSpec`, centred on a proposal's mix or on the natural distribution."""
    space = open_space(spec.space, sequence)
    natural = space.collapse(space.domains.natural())
    centre = natural
    if prior is not None:
        mix = space.collapse(read_mix(prior))
        blended = (1 - _FLOOR_SHARE) * mix.weights + _FLOOR_SHARE * natural.weights
        centre = Mix(natural.names, blended)
    settings = dict(distributions[spec.kind])
    if spec.strengths is not None:
        settings["strengths"] = spec.strengths
    caps = None
    if spec.capped:
        caps = space.request(kl=0.0, repetition=repetition, requested=requested).caps
    distribution = SwarmDistribution(spec.kind, **settings)
    return sample_swarm(centre, spec.size, seed=spec.seed, distribution=distribution, caps=caps)


def collect_metrics(evaluations: Mapping[str, str | Path]) -> tuple[list[str], np.ndarray]:
    """Tasks, and a row of BPB per run, from the runs' ``eval.json`` files in order."""
    rows, tasks = [], None
    for run, path in evaluations.items():
        record = read_json(path)["tasks"]
        tasks = tasks or list(record)
        if list(record) != tasks:
            raise OlmixError(f"{path}: run '{run}' was scored on other tasks than the first run")
        rows.append([record[task] for task in tasks])
    if tasks is None:
        raise OlmixError("no evaluations to collect")
    return tasks, np.array(rows)
