"""RQ4: every regression family, by the solver the paper gives it, over topics and sources."""

from olmix.regressors import FAMILIES
from olmix.study.methods import solver_choice
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.spec import Reads

__all__ = ["COMPARED", "POWER_LAWS", "QUESTION", "SOLVERS", "proposal_name"]

#: The paper's families, in the order of the registry: what they propose is trained. Ours are fitted
#: beside them; what training says of ours is a question of its own (`fewer_runs`).
COMPARED = tuple(family for family in FAMILIES.values() if not family.ours)
#: The families that the paper tries under every solver, and these solvers.
POWER_LAWS = (FAMILIES["bimix"], FAMILIES["autoscale"])
SOLVERS = ("exact", "exact_kl", "search")


def proposal_name(level: str, family: str, solver: str | None = None) -> str:
    """What a family proposes with its own solver, or over topics with another one."""
    if solver is None or solver == FAMILIES[family].solver:
        return f"{level}-{family}"
    # In names of proposals a solver is written with a dash.
    return f"{level}-{family}-{solver.replace('_', '-')}"


def plan(study: Plan) -> Reads:
    """Fits against swarm size at both levels and by m; target runs by family and by solver."""
    swarms = {"topics": study.topics(), "sources": study.sources()}
    proposals = [
        study.olmix_base(
            proposal_name(level, family.name),
            swarm,
            regressor=family.name,
            **solver_choice(family.solver, study.scale),
        )
        for level, swarm in swarms.items()
        for family in COMPARED
    ]
    # The solver a family uses above is one of the three: train only the other two.
    proposals += [
        study.olmix_base(
            proposal_name("topics", family.name, solver),
            swarms["topics"],
            regressor=family.name,
            **solver_choice(solver, study.scale),
        )
        for family in POWER_LAWS
        for solver in SOLVERS
        if solver != family.solver
    ]
    study.propose("rq4", proposals)
    targets = study.train_targets("rq4")
    pools = {m: study.some_topics(m) for m in study.scale["rq2"]["domains"]}
    return Reads(
        studies=["rq4"],
        swarms=[*swarms.values(), *pools.values(), *targets],
        planned={"levels": swarms, "pools": list(pools.items()), "target": targets},
    )


QUESTION = Question(
    title="RQ4 Which regression family?",
    doing="Answering RQ4: which regression family to fit",
    place=7,
    plan=plan,
    tables=("fit", "downstream", "fit_by_domains", "bimix_autoscale_solvers"),
    settings=("rq2", "rq4"),
)
