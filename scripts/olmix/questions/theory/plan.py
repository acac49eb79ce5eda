"""Theory: the terms of both theorems on single additions, at both R (§5.2)."""

from olmix.errors import OlmixError
from olmix.study.chain import chains
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.single_updates import MULTIPLIER, RELAXED, TIGHT, follow_alone, told, where
from olmix.study.spec import Reads
from olmix.study.update_plan import UpdatePlan
from olmix.updates.operators import split_domains
from olmix.updates.strategies import (
    CONSTRUCTED,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
)

__all__ = ["QUESTION"]


def plan(study: Plan) -> Reads:
    """Two additions with ratios made on purpose, and one where partial reuse is compared."""
    single, seeds = study.scale["single_updates"], study.scale.seeds()
    both, c = (FULL_RECOMPUTATION, FULL_MIXTURE_REUSE), [MULTIPLIER]
    additions = [
        follow_alone(
            study,
            name,
            chains(both, c, TIGHT, seeds)
            + chains(both, c, RELAXED, seeds)
            + chains(CONSTRUCTED, c, RELAXED, seeds),
        )
        for name in single["theory"]
    ]
    coupled = follow_alone(
        study,
        single["coupling"],
        chains(both, c, RELAXED, seeds) + chains([PARTIAL_MIXTURE_REUSE], c, RELAXED, seeds),
    )
    for update in (*additions, coupled):
        if update.system is not None:
            raise OlmixError(
                f"{where(update)}: method '{update.system.name}' has no law of all domains, whose "
                "terms the theory is about"
            )
    for update in additions:
        _check_addition(update)
    if not coupled.sequence.steps[0].recompute:
        raise OlmixError(
            f"{where(coupled)}: no domains under recompute, whose coupling is to be compared"
        )
    updates = {update.name: told(update) for update in (*additions, coupled)}
    return Reads(
        swarms=[update[key] for update in updates.values() for key in ("pool", "target")],
        stages=[tuple(update["at"]) for update in updates.values()],
        planned={
            "updates": updates,
            "additions": [update.name for update in additions],
            "coupled": coupled.name,
        },
    )


def _check_addition(update: UpdatePlan) -> None:
    """The theorems are about domains that are added and leave all others as they were."""
    before, after = (stage.domains for stage in update.sequence.stages())
    affected = split_domains(before, after).affected
    if affected:
        raise OlmixError(f"{where(update)}: affects '{affected[0]}', the theory is for additions")


QUESTION = Question(
    title="Theory: reuse gap, update shift, coupling",
    doing="Measuring the terms of both theorems on single additions",
    place=3,
    plan=plan,
    tables=(
        "reuse_gap",
        "update_shift",
        "reused_vs_optimal",
        "partial_reuse_coupling",
        "kappa_reduction",
    ),
    settings=("single_updates", "pool_share"),
)
