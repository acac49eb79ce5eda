"""RQ6: where to enforce the repetition factor k, and what it does to the mix."""

from olmix.study.plan import TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["APPROACHES", "QUESTION", "factor_name"]

#: approach -> are the swarm's mixes under the caps, is the optimisation
APPROACHES = {
    "constrained-swarm": (True, False),
    "constrained-optimization": (False, True),
    "constrained-both": (True, True),
}


def factor_name(factor: float | str) -> str:
    """The proposal with a repetition factor of the scale's list, which may be inf."""
    return f"k{factor}"


def plan(study: Plan) -> Reads:
    """The three approaches, trained; and proposals for every factor, not trained."""
    swarm, k = study.topics(), study.scale["repetition"]
    size = study.scale["swarm_sizes"]["capped"]
    capped = study.sample(MixesSpec("topics-capped", TOPICS, size, capped=True, seed=7))
    approaches = [
        study.olmix_base(
            name,
            capped if constrained_swarm else swarm,
            repetition=k if constrained_optimization else None,
        )
        for name, (constrained_swarm, constrained_optimization) in APPROACHES.items()
    ]
    factors = [
        study.olmix_base(
            factor_name(factor), swarm, repetition=None if factor == "inf" else float(factor)
        )
        for factor in study.scale["rq6"]["factors"]
    ]
    study.propose("rq6", [*approaches, *factors])
    targets = study.train_targets("rq6", list(APPROACHES))
    return Reads(
        studies=["rq6"], swarms=[swarm, capped, *targets], planned={"target": targets}
    )  # fmt: skip


QUESTION = Question(
    title="RQ6 Where to enforce repetition caps?",
    doing="Answering RQ6: where to enforce the repetition factor",
    place=9,
    plan=plan,
    tables=("repetition_constraints", "weights"),
    settings=("rq6",),
)
