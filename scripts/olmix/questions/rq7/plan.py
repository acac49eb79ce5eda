"""RQ7: exact, exact with a KL term, or search; topics and sources."""

from typing import Any

from olmix.proposers import SOLVERS
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.scale import Scale
from olmix.study.spec import Reads

__all__ = ["LEVELS", "QUESTION", "label", "proposal_name", "solvers"]

LEVELS = ("topics", "sources")
# The weights of the KL term that the paper compares.
_WEIGHTS = (0.01, 0.05)


def solvers(scale: Scale) -> dict[str, dict[str, Any]]:
    """The solvers compared, by name: exact without a KL term and with several, then the others."""
    weights = sorted({*_WEIGHTS, scale["kl"]} - {0})
    return {
        "exact": {"proposer": "exact", "kl": 0.0},
        **{f"kl-{weight:g}": {"proposer": "exact", "kl": weight} for weight in weights},
        **{
            solver.name: {"proposer": solver.name, "kl": 0.0}
            for solver in SOLVERS.values()
            if solver.compared
        },
    }


def label(solver: str) -> str:
    """How a solver of the table is written: ``kl-0.05`` is KL 0.05."""
    return SOLVERS[solver].label if solver in SOLVERS else solver.replace("kl-", "KL ")


def proposal_name(level: str, solver: str) -> str:
    """What a solver proposes at a level."""
    return f"{level}-{solver}"


def plan(study: Plan) -> Reads:
    """OlmixBase with each solver at both levels, trained."""
    swarms = {"topics": study.topics(), "sources": study.sources()}
    compared = solvers(study.scale)
    study.propose(
        "rq7",
        [
            study.olmix_base(proposal_name(level, name), swarm, **choices)
            for level, swarm in swarms.items()
            for name, choices in compared.items()
        ],
    )
    targets = study.train_targets("rq7")
    return Reads(
        studies=["rq7"],
        swarms=[*swarms.values(), *targets],
        planned={"solvers": list(compared), "target": targets},
    )


QUESTION = Question(
    title="RQ7 Which solver?",
    doing="Answering RQ7: how to solve the optimization problem",
    place=10,
    plan=plan,
    tables=("solvers",),
    settings=("rq7",),
)
