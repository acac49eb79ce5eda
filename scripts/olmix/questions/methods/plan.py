"""Whole mixing methods, each of `config/methods/`, on the same topics, tasks and target.

Methods that are seven choices have a swarm of their own size and a proposal; systems that are
algorithms are planned by kind (`olmix.study.system_plan`). Ours in rounds is also answered after
each round, beside OlmixBase on as many runs at once.
"""

from collections.abc import Iterable
from dataclasses import asdict
from itertools import accumulate
from typing import Any

from olmix.cost.methods import Spent, method_cost
from olmix.study.methods import MixingMethod
from olmix.study.plan import TOPICS, Plan
from olmix.study.question import Question
from olmix.study.scale import load_scale
from olmix.study.spec import MixesSpec, ProposalSpec, Reads
from olmix.study.system_plan import answer_with, plan_targets, train_answers
from olmix.study.systems import AnswerSpec, System
from olmix.systems.kinds.steering import MovingMix
from olmix.updates.sequence import load_updates

__all__ = ["NATURAL", "QUESTION"]

#: The system that gains are measured from.
NATURAL = "natural"
# Ours in rounds, whose gain is followed from round to round.
_IN_ROUNDS = "olmix_rounds"


def plan(study: Plan) -> Reads:
    """Everything that methods train, propose and answer, and their target runs."""
    swarms = {name: _swarm(study, method) for name, method in study.methods.items()}
    proposals = [
        method.proposal(name, swarms[name], study.scale) for name, method in study.methods.items()
    ]
    left_out = {system.name: why for system in study.systems.values() if (why := system.lacks)}
    systems = [system for name, system in study.systems.items() if name not in left_out]
    online, trained = {}, []
    for system in systems:
        if system.kind is MovingMix:
            online[system.name] = plan_targets(study, system)
        else:
            trained += answer_with(study, system)
    curve, at_once = _curve(study)
    study.propose("methods", [*proposals, *at_once])
    targets, answers = study.train_targets("methods"), train_answers(study)
    rounds = [swarm for swarm in trained if swarm in study.rounds]
    return Reads(
        studies=["methods"],
        swarms=[*targets, *answers, *online.values()],
        trained=list(online.values()),
        answers=True,
        planned={
            "methods": [asdict(method) for method in study.methods.values()],
            "systems": [
                {
                    "name": system.name,
                    "label": system.label,
                    "way": system.way,
                    "repetition_constraint": system.repetition_constraint,
                }
                for system in systems
            ],
            "targets": targets,
            "answers": answers,
            "online": online,
            "costs": _costs(study, systems),
            "run_costs": _run_costs(study, {study.swarms[name].model for name in rounds}),
            "left_out": {study.systems[name].label: why for name, why in left_out.items()},
            "curve": curve,
        },
    )


def _runs(study: Plan, method: MixingMethod) -> int:
    """How many runs a method's swarm has: as its file says, and no more than the scale allows."""
    largest, domains = study.scale["methods"]["largest_swarm"], len(study.updates.sequence.initial)
    runs = method.swarm_size(domains)
    return runs if largest is None else min(runs, largest)


def _swarm(study: Plan, method: MixingMethod) -> str:
    mixes = MixesSpec(
        f"method-{method.name}", TOPICS, _runs(study, method), kind=method.swarm_distribution
    )
    return study.sample(mixes, method.proxy_size)


def _curve(study: Plan) -> tuple[dict[str, dict[int, str]], list[ProposalSpec]]:
    """Answers of ours after each round, and proposals of OlmixBase on as many runs at once."""
    if _IN_ROUNDS not in study.answers:
        return {}, []
    swarms = study.answers[_IN_ROUNDS].swarms
    totals = list(accumulate(study.swarms[name].size for name in swarms))
    rounds, at_once = {}, {}
    for number, runs in enumerate(totals, start=1):
        name = _IN_ROUNDS if number == len(totals) else f"{_IN_ROUNDS}-{number}"
        study.answers[name] = AnswerSpec(name, _IN_ROUNDS, swarms[:number])
        rounds[runs] = name
        at_once[runs] = f"at_once-{runs}"
    pool = study.topics()
    proposals = [study.olmix_base(name, pool, runs=runs) for runs, name in at_once.items()]
    return {"rounds": rounds, "at once": at_once}, proposals


def _costs(study: Plan, systems: Iterable[System]) -> dict[str, dict[str, Any]]:
    """What each method trains besides the target run, here, and in GPU-hours at `paper`."""
    paper = load_scale(study.root / "config" / "scales", "paper")
    there = len(load_updates(study.root / paper["updates"]).initial)
    here = len(study.updates.sequence.initial)
    found = {}
    for name, method in study.methods.items():
        spent = [Spent(method.proxy_size, _runs(study, method))]
        on_paper = [Spent(method.proxy_size, method.swarm_size(there))]
        found[name] = _cost(study, spent) | _hours(on_paper, paper)
    for system in systems:
        spent = system.spends(study.scale, here)
        found[system.name] = _cost(study, spent) | _hours(system.spends(paper, there), paper)
    return found


def _cost(study: Plan, spent: Iterable[Spent]) -> dict[str, float]:
    cost = method_cost(spent, study.scale)
    return {"runs": cost.runs, "tokens": cost.tokens, "proxy_runs": cost.proxy_runs}


def _hours(spent: Iterable[Spent], paper: Any) -> dict[str, float]:
    return {"gpu_hours_paper": method_cost(spent, paper).device_hours}


def _run_costs(study: Plan, models: Iterable[str]) -> dict[str, dict[str, float]]:
    """What one run of each model costs that rounds may train."""
    cheaper = {name for system in study.systems.values() for name in system.cheaper_sizes}
    return {name: _cost(study, [Spent(name, 1)]) for name in sorted({*models, *cheaper})}


QUESTION = Question(
    title="Mixing methods side by side",
    doing="Comparing whole mixing methods",
    place=11,
    plan=plan,
    paper=False,
    tables=("methods", "rounds"),
    settings=("methods", "models"),
    needs={"methods": "text: BiMix's swarm weighs domains by the entropy of their tokens"},
)
