"""Spaces at run time: from a `SpaceSpec` and counted domains to mixes over tokenised data."""

from collections.abc import Iterable, Mapping

import numpy as np

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import read_mix
from olmix.study.spec import SpaceSpec
from olmix.updates.collapse import Collapse
from olmix.updates.operators import EXISTING, ReuseSplit
from olmix.updates.sequence import UpdateSequence

__all__ = ["FINAL", "open_space", "stage_domains", "stored_mix"]

# The stage after the last update, whatever it is called.
FINAL = "final"


def stage_domains(sequence: UpdateSequence, stage: str) -> DomainSet:
    """The domains of a stage by name; ``final`` is the last one."""
    stages = {entry.name: entry.domains for entry in sequence.stages()}
    if stage == FINAL:
        return list(stages.values())[-1]
    if stage not in stages:
        raise OlmixError(f"no stage '{stage}', expected one of {', '.join(stages)}, {FINAL}")
    return stages[stage]


def open_space(spec: SpaceSpec, sequence: UpdateSequence) -> Collapse:
    """The change of variables between a space's mixes and mixes over single domains."""
    domains = stage_domains(sequence, spec.stage)
    if spec.largest is not None:
        if spec.largest > len(domains):
            raise OlmixError(f"{spec.largest} largest domains of {len(domains)}")
        kept = set(np.argsort(-domains.tokens, kind="stable")[: spec.largest])
        domains = DomainSet(tuple(d for i, d in enumerate(domains) if i in kept))
    if spec.only:
        unknown = [name for name in spec.only if name not in domains]
        if unknown:
            raise OlmixError(f"'{unknown[0]}' is not a domain of stage '{spec.stage}'")
        domains = DomainSet(tuple(d for d in domains if d.name in spec.only))
    if spec.frozen:
        return _frozen(spec, domains)
    if spec.split == "none":
        return Collapse(domains, ReuseSplit({}, domains.names), domains.natural())
    if spec.split != "sources":
        raise OlmixError(f"space: split is '{spec.split}', expected none or sources")
    members = {
        source: tuple(d.name for d in domains.of_source(source)) for source in domains.sources
    }
    groups = {source: names for source, names in members.items() if len(names) > 1}
    alone = tuple(names[0] for names in members.values() if len(names) == 1)
    return Collapse(domains, ReuseSplit(groups, alone), domains.natural())


def _frozen(spec: SpaceSpec, domains: DomainSet) -> Collapse:
    """The space after an update: frozen domains as one, all others with a weight of their own."""
    unknown = [name for name in spec.frozen if name not in domains]
    if unknown or spec.existing is None:
        why = f"'{unknown[0]}' is not a domain of it" if unknown else "no mix says their ratios"
        raise OlmixError(f"stage '{spec.stage}': frozen domains, but {why}")
    recomputed = tuple(name for name in domains.names if name not in spec.frozen)
    split = ReuseSplit({EXISTING: spec.frozen}, recomputed)
    return Collapse(domains, split, read_mix(spec.existing))


def stored_mix(mix: Mix, domains: Iterable[Domain], tokens: Mapping[str, int]) -> dict[str, float]:
    """A mix over domains as one over what a corpus stores, without zeros.

    A domain is stored under its name and version, ``name@version``, or under its name; a source
    that the corpus holds by topic only is spread over its topics naturally.
    """
    weights: dict[str, float] = {}
    for domain in domains:
        weight = mix[domain.name]
        if weight == 0:
            continue
        versioned = f"{domain.name}@{domain.version}"
        topics = {name: n for name, n in tokens.items() if name.startswith(f"{domain.name}:")}
        if versioned in tokens or domain.name in tokens:
            name = versioned if versioned in tokens else domain.name
            weights[name] = weights.get(name, 0.0) + weight
        elif topics:
            for name, count in topics.items():
                share = weight * count / sum(topics.values())
                weights[name] = weights.get(name, 0.0) + share
        else:
            raise OlmixError(f"the corpus has no domain '{domain.name}'")
    return weights
