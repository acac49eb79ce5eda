"""What is refused as soon as it can be known of the data: what would stop a run weeks later."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from olmix.cost.compute import run_size
from olmix.domains import Domain, DomainSet, check_caps
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.study.plan import TARGET
from olmix.study.scale import Scale
from olmix.study.space import stored_mix
from olmix.updates.sequence import UpdateSequence, load_updates

__all__ = ["check_caps_at_stages", "check_declared", "check_sample", "check_versions"]


def check_declared(
    root: Path, updates: Iterable[str], domains: Iterable[str], scale: Scale
) -> None:
    """Refuse public texts by what is declared of them, before the first is fetched.

    ``domains`` are those that the sources feed. Where no sizes are declared, caps wait until the
    tokens are counted.
    """
    sizes = scale["data"]["public"]["sizes"]
    declared = None
    if sizes:
        declared = DomainSet(tuple(d for file in sizes for d in DomainSet.load(root / file)))
    stored = dict.fromkeys(domains, 1)
    for file in updates:
        sequence = load_updates(root / file, declared)
        check_versions(sequence, stored)
        if declared is not None:
            check_caps_at_stages(sequence, scale["repetition"], scale["requested_tokens"])


def check_caps_at_stages(
    sequence: UpdateSequence, repetition: float, requested: Mapping[str, float]
) -> None:
    """Refuse a stage whose caps k·N/R no mix can meet, at any R."""
    for stage in sequence.stages():
        for label, tokens in requested.items():
            caps = stage.domains.caps(repetition, tokens)
            try:
                check_caps(stage.domains.names, caps, tokens)
            except OlmixError as error:
                raise OlmixError(f"stage '{stage.name}', R {label}: {error}") from None


def check_versions(sequence: UpdateSequence, stored: Mapping[str, int]) -> None:
    """Refuse a revised domain of which the corpus holds one version for two.

    Trained on the same tokens before and after, an update would do nothing without saying so.
    """
    read: dict[tuple[str, frozenset[str]], str] = {}
    for stage in sequence.stages():
        for domain in stage.domains:
            tokens = frozenset(_stored(domain, stored))
            before = read.setdefault((domain.name, tokens), domain.version)
            if before != domain.version:
                raise OlmixError(
                    f"stage '{stage.name}': versions {before} and {domain.version} of "
                    f"'{domain.name}' are the same tokens ({', '.join(sorted(tokens))[:80]}); "
                    f"expected a domain '{domain.name}@{before}' in the corpus"
                )


def _stored(domain: Domain, stored: Mapping[str, int]) -> dict[str, float]:
    """The stored domains that one domain is read from."""
    return stored_mix(Mix((domain.name,), np.ones(1)), [domain], stored)


def check_sample(
    declared: DomainSet,
    stored: Mapping[str, int],
    models: Mapping[str, Mapping[str, Any]],
    repetition: float,
    requested: Mapping[str, float],
) -> dict[str, float]:
    """The most often that a run may read a domain's tokens, by model; too often is refused.

    A proxy's mix may be one domain alone; a target's is under the caps of the smallest R.
    """
    largest, least = {}, min(requested.values())
    for name, model in models.items():
        tokens = run_size(model).tokens
        worst = ("", 0.0)
        for domain in declared:
            if domain.name not in stored:
                continue
            cap = min(1.0, repetition * domain.tokens / least) if name == TARGET else 1.0
            worst = max(worst, (domain.name, cap * tokens / stored[domain.name]), key=_times)
        largest[name] = worst[1]
        if worst[1] > model["max_repetition"]:
            raise OlmixError(
                f"model '{name}': a run may read '{worst[0]}' {worst[1]:.3g} times, of which "
                f"{stored[worst[0]]:,} tokens are there, more than its max_repetition "
                f"{model['max_repetition']:g}; get more of it, or raise the limit"
            )
    return largest


def _times(entry: tuple[str, float]) -> float:
    return entry[1]
