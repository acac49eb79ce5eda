"""Whole mixing methods, each of `config/methods/`, at its own swarm size on the same topics."""

from dataclasses import asdict

from olmix.study.plan import TARGET, TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["QUESTION"]


def plan(study: Plan) -> Reads:
    """Each method's swarm, proposal and target runs, and the natural mix beside them."""
    largest, domains = study.scale["methods"]["largest_swarm"], len(study.updates.sequence.initial)
    swarms, proposals = {}, []
    for name, method in study.methods.items():
        runs = method.swarm_size(domains)
        if largest is not None:
            runs = min(runs, largest)
        kind = method.swarm_distribution
        mixes = MixesSpec(f"method-{name}", TOPICS, runs, kind=kind)
        swarms[name] = study.sample(mixes, method.proxy_size)
        proposals.append(method.proposal(name, swarms[name], study.scale))
    study.propose("methods", proposals)
    natural = study.sample(MixesSpec("natural-topics", TOPICS, 1, kind="natural"), TARGET)
    targets = study.train_targets("methods")
    return Reads(
        studies=["methods"],
        swarms=[natural, *targets],
        planned={
            "methods": [asdict(method) for method in study.methods.values()],
            "swarms": swarms,
            "natural": natural,
            "target": targets,
        },
    )


QUESTION = Question(
    title="Mixing methods side by side",
    doing="Comparing whole mixing methods",
    place=11,
    plan=plan,
    paper=False,
    tables=("methods",),
    settings=("methods", "models"),
    needs={"methods": "text: BiMix's swarm weighs domains by the entropy of their tokens"},
)
