"""Fewer runs: strategies with few proxy runs, fitted with each law. Ours, not the paper's."""

from olmix.questions.budgets.plan import low_group
from olmix.questions.updates.plan import main_group
from olmix.study.chain import Chain, chains
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.spec import Reads
from olmix.updates.strategies import (
    AUTO_PARTIAL_REUSE,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
)

__all__ = ["QUESTION"]

_REUSED = (FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE, AUTO_PARTIAL_REUSE)


def plan(study: Plan) -> Reads:
    """Whole chains of every strategy, law and multiplier: those of the main results, and new ones.

    The interval of a point is over its seeds, each with a swarm and a target run of its own.
    """
    updates = study.updates
    groups = [updates.groups[name] for name in (main_group(study), low_group(study))]
    there = {chain for group in groups for chain in group.chains}
    wanted = _wanted(study)
    new = updates.follow(
        "fewer_runs", [chain for chain in wanted if chain not in there], natural=True
    )
    return Reads(
        swarms=[group.target for group in (*groups, new)],
        planned={
            "law": study.olmix_base("", "").regressor,
            "groups": {
                group.target: [
                    (chain.to_dict(), updates.total_runs(chain))
                    for chain in group.chains
                    if chain in wanted
                ]
                for group in (*groups, new)
            },
        },
    )


def _wanted(study: Plan) -> list[Chain]:
    """Every chain of the figure; a law that is OlmixBase's own is not named, as elsewhere."""
    settings, own = study.scale["fewer_runs"], study.olmix_base("", "").regressor
    return [
        chain
        for strategies, laws in (
            ([FULL_RECOMPUTATION], settings["laws"]["recomputed"]),
            (_REUSED, settings["laws"]["reused"]),
        )
        for chain in chains(
            strategies,
            settings["multipliers"],
            "relaxed",
            study.scale.seeds(),
            ["" if law == own else law for law in laws],
        )
    ]


QUESTION = Question(
    title="Fewer runs: what a better law buys",
    doing="Comparing laws by what their mixes gain with few runs",
    place=13,
    plan=plan,
    tables=("fewer_runs", "fewer_runs_by_law"),
    settings=("fewer_runs",),
    paper=False,
)
