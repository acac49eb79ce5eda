"""RQ6: where to enforce the repetition factor k, and what it does to the mix."""

from olmix.cost.compute import run_size
from olmix.study.plan import TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["APPROACHES", "MATCHED", "QUESTION", "factor_name"]

#: The paper's approaches -> are the swarm's mixes under the caps, is the optimisation
APPROACHES = {
    "constrained-swarm": (True, False),
    "constrained-optimization": (False, True),
    "constrained-both": (True, True),
}
#: Ours: no caps, but proxies that repeat what a run of R tokens would, so that it costs them BPB.
MATCHED = "matched-proxies"


def factor_name(factor: float | str) -> str:
    """The proposal with a repetition factor of the scale's list, which may be inf."""
    return f"k{factor}"


def plan(study: Plan) -> Reads:
    """The approaches, trained; and proposals for every factor, not trained."""
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
    trained = list(APPROACHES)
    if study.scale["rq6"].get("matched", False):
        approaches.append(study.olmix_base(MATCHED, _matched(study, size), repetition=None))
        trained.append(MATCHED)
    study.propose("rq6", [*approaches, *factors])
    targets = study.train_targets("rq6", trained)
    return Reads(
        studies=["rq6"],
        swarms=[swarm, capped, *targets],
        planned={"target": targets, "approaches": trained},
    )


def _matched(study: Plan, size: int) -> str:
    """A swarm whose runs read, of each domain, the share that a proxy's tokens are of R."""
    name = study.sample(MixesSpec("topics-matched", TOPICS, size, seed=8))
    tokens = run_size(study.scale.model(study.scale.proxy)).tokens
    study.shares[name] = tokens / study.scale["requested_tokens"]["tight"]
    return name


QUESTION = Question(
    title="RQ6 Where to enforce repetition caps?",
    doing="Answering RQ6: where to enforce the repetition factor",
    place=9,
    plan=plan,
    tables=("repetition_constraints", "weights"),
    settings=("rq6",),
)
