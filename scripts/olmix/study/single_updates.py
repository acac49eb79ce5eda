"""Single updates: a sequence with one update, followed by chains of its own (§5.2, App. D).

They go through the rules of the evolving-domain study as a group each, named after the update.
"""

from collections.abc import Iterable
from typing import Any

from olmix.domains import check_caps
from olmix.errors import OlmixError
from olmix.study.chain import Chain
from olmix.study.plan import Plan
from olmix.study.update_plan import UpdatePlan
from olmix.updates.operators import split_domains

__all__ = ["MULTIPLIER", "RELAXED", "TIGHT", "follow_alone", "told", "where"]

RELAXED, TIGHT = "relaxed", "tight"
#: Every swarm of the single updates is of K ≈ 3(m+1), the paper's default.
MULTIPLIER = 3


def follow_alone(
    study: Plan, name: str, chains: Iterable[Chain], *, natural: bool = False
) -> UpdatePlan:
    """Follow chains through the single update of a name, after checking that it is one."""
    if name in study.updates.groups:
        raise OlmixError(
            f"scale '{study.scale.name}', single_updates: '{name}' is a group of the main study, "
            "rename the file"
        )
    update = study.single_update(name)
    _check(update)
    update.follow(name, chains, natural=natural)
    return update


def told(update: UpdatePlan) -> dict[str, Any]:
    """What an answer is told of a single update: its file and stage, its runs and its mixes."""
    group, stage = update.groups[update.name], update.last
    return {
        "name": update.name,
        "file": update.file,
        "stage": stage,
        "pool": update.pools[stage],
        "target": group.target,
        "mixes": group.at(stage),
        "at": [group.name, stage],
    }


def where(update: UpdatePlan) -> str:
    """Where a single update is asked for, as error messages say it."""
    return f"scale '{update.scale.name}', single_updates, {update.file}"


def _check(update: UpdatePlan) -> None:
    """Refuse an update that no figure could be made of."""
    sequence, scale = update.sequence, update.scale
    if len(sequence.steps) != 1:
        raise OlmixError(f"{where(update)}: {len(sequence.steps)} updates, expected one")
    before, after = (stage.domains for stage in sequence.stages())
    if not split_domains(before, after).unaffected:
        raise OlmixError(f"{where(update)}: every domain is affected, there is nothing to reuse")
    if sequence.reuse_within:
        raise OlmixError(f"{where(update)}: reuse_within, expected none in a single update")
    for domains in (before, after):
        for label, requested in scale["requested_tokens"].items():
            try:
                check_caps(domains.names, domains.caps(scale["repetition"], requested), requested)
            except OlmixError as error:
                raise OlmixError(f"{where(update)}, requested_tokens {label}: {error}") from None
