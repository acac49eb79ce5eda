"""Fingerprints of the stages of a sequence: job parameters that change when a stage does.

A job of a stage is given the fingerprint of what that stage depends on, and nothing of later ones,
so that editing one stage reruns its jobs and those that follow from them. Token counts are left
out: jobs read them from the data they were counted on.
"""

from dataclasses import asdict
from typing import Any

from olmix.domains import DomainSet
from olmix.files import content_hash
from olmix.study.space import FINAL
from olmix.updates.sequence import UpdateSequence

__all__ = ["domain_prints", "lineage_prints"]


def lineage_prints(sequence: UpdateSequence) -> dict[str, str]:
    """A print of each stage with all before it, as strategies that go through them see it."""
    history: list[Any] = []
    prints = {}
    steps = (None, *sequence.steps)
    for stage, step in zip(sequence.stages(), steps, strict=True):
        entry: list[Any] = [stage.name, _members(stage.domains)]
        if step is not None:
            kinds = [type(operator).__name__ for operator in step.update.operators]
            entry += [kinds, list(step.recompute), dict(step.prior), list(sequence.reuse_within)]
            entry += [dict(step.reuse_prior)] if step.reuse_prior else []
        elif sequence.initial_prior:
            entry.append(dict(sequence.initial_prior))
        history.append(entry)
        prints[stage.name] = content_hash(history)
    return prints


def domain_prints(sequence: UpdateSequence) -> dict[str, str]:
    """A print of the domains of each stage, and of ``final``, as single runs see them."""
    prints = {stage.name: content_hash(_members(stage.domains)) for stage in sequence.stages()}
    return prints | {FINAL: list(prints.values())[-1]}


def _members(domains: DomainSet) -> list[dict[str, Any]]:
    return [{k: v for k, v in asdict(domain).items() if k != "tokens"} for domain in domains]
