"""Tight repetition caps, and low budgets: the strategies where R is larger or runs are fewer."""

from olmix.questions.updates.plan import MULTIPLIER, main_group
from olmix.study.chain import chains
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.spec import Reads
from olmix.updates.strategies import (
    AUTO_PARTIAL_REUSE,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
)

__all__ = ["QUESTION", "low_group"]

_LOW = (1, 2)
# The paper leaves partial reuse out where R is tight: full reuse already does well.
_AT_TIGHT = (SWARM_REUSE, FULL_MIXTURE_REUSE)


def low_group(study: Plan) -> str:
    """Every strategy but full recomputation, whose low budgets are in the main group, at low c."""
    seeds = study.scale.seeds()
    # A chain's place decides the seed of its runs, so new ones stand at the end.
    study.updates.follow(
        "low",
        chains([*_AT_TIGHT, PARTIAL_MIXTURE_REUSE], _LOW, "relaxed", seeds)
        + chains(_AT_TIGHT, _LOW, "tight", seeds)
        + chains(study.asked([AUTO_PARTIAL_REUSE]), _LOW, "relaxed", seeds),
        natural=True,
    )
    return "low"


def plan(study: Plan) -> Reads:
    """The main group, ``tight`` (R six times larger) and ``low`` (c = 1 and 2)."""
    updates, seeds = study.updates, study.scale.seeds()
    main_group(study)
    updates.follow(
        "tight",
        chains([FULL_RECOMPUTATION], (*_LOW, MULTIPLIER), "tight", seeds)
        + chains(_AT_TIGHT, [MULTIPLIER], "tight", seeds),
        natural=True,
    )
    low_group(study)
    groups = [updates.groups[name] for name in ("main", "tight", "low")]
    return Reads(
        swarms=[group.target for group in groups],
        planned={
            "groups": {
                group.name: {"chains": updates.costs(group.name), "target": group.target}
                for group in groups
            },
            "draws": updates.system is None,
        },
    )


QUESTION = Question(
    title="Tight repetition caps and low budgets",
    doing="Comparing the strategies at tight repetition caps and low budgets",
    place=1,
    plan=plan,
    tables=("budgets", "budgets_by_strategy"),
    settings=("pool_share",),
)
