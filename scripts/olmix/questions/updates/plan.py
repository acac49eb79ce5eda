"""The main results: every strategy through all updates, with the paper's default swarm (§5.1)."""

from olmix.study.chain import NATURAL, chains
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.spec import Reads
from olmix.updates.strategies import COMPARED, FULL_RECOMPUTATION, PARTIAL_MIXTURE_REUSE

__all__ = ["MULTIPLIER", "QUESTION", "main_group"]

#: K ≈ 3(m+1), the paper's default.
MULTIPLIER = 3
_EVERY = (1, 2, 3)


def main_group(study: Plan) -> str:
    """Full recomputation with every c, and all other strategies with c = 3; R relaxed."""
    seeds = study.scale.seeds()
    others = [each for each in study.asked(COMPARED) if each != FULL_RECOMPUTATION]
    # The checkpoints figure follows natural and partial reuse along training.
    partial = chains([PARTIAL_MIXTURE_REUSE], [MULTIPLIER], "relaxed", seeds)
    study.updates.follow(
        "main",
        chains([FULL_RECOMPUTATION], _EVERY, "relaxed", seeds)
        + chains(others, [MULTIPLIER], "relaxed", seeds),
        natural=True,
        curve=[NATURAL, *(chain.name for chain in partial)],
    )
    return "main"


def plan(study: Plan) -> Reads:
    """The main group: target runs of its last mixes, and the mixes."""
    group = study.updates.groups[main_group(study)]
    stage = study.updates.last
    steps = study.updates.sequence.steps
    return Reads(
        swarms=[group.target],
        stages=[(group.name, stage)],
        choices=[(group.name, step.name) for step in steps],
        trained=[group.target],
        planned={
            "chains": study.updates.costs(group.name),
            "target": group.target,
            "mixes": group.at(stage),
            "draws": study.updates.system is None,
            "choices": {group.at(step.name): step.name for step in steps},
            "named": {step.name: list(step.recompute) for step in steps},
        },
    )


QUESTION = Question(
    title="Main results: all updates, every strategy",
    doing="Comparing the strategies over all updates",
    place=0,
    plan=plan,
    tables=(
        "main_results",
        "main_results_by_strategy",
        "total_variation",
        "full_domain_mixtures",
        "auto_reuse",
        "checkpoints",
    ),
    settings=("pool_share",),
    needs={"checkpoints": "BPB along training"},
)
