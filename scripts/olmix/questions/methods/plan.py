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
# Swarm distributions that depend on the text itself.
_OF_TEXT = ("entropy_weighted",)


def plan(study: Plan) -> Reads:
    """Everything that methods train, propose and answer, and their target runs."""
    left_out = _left_out(study)
    methods = [method for name, method in study.methods.items() if name not in left_out]
    systems = [system for name, system in study.systems.items() if name not in left_out]
    proposals = [
        method.proposal(method.name, _swarm(study, method), study.scale) for method in methods
    ]
    online, trained = {}, []
    for system in systems:
        if system.kind is MovingMix:
            online[system.name] = plan_targets(study, system)
        else:
            trained += answer_with(study, system)
    curve, at_once = _curve(study)
    study.propose("methods", [*proposals, *at_once])
    targets, answers = study.train_targets("methods"), train_answers(study)
    labels = {name: method.label for name, method in study.methods.items()}
    labels |= {name: system.label for name, system in study.systems.items()}
    rounds = [swarm for swarm in trained if swarm in study.rounds]
    return Reads(
        studies=["methods"],
        swarms=[*targets, *answers, *online.values()],
        trained=list(online.values()),
        answers=True,
        planned={
            "methods": [asdict(method) for method in methods],
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
            "costs": _costs(study, methods, systems),
            "run_costs": _run_costs(study, {study.swarms[name].model for name in rounds}),
            "left_out": {labels[name]: why for name, why in left_out.items()},
            "curve": curve,
        },
    )


def _left_out(study: Plan) -> dict[str, str]:
    """Methods that cannot be compared here, and what they need that is not there."""
    domains = len(study.updates.sequence.initial)
    found = {
        name: system.lacks or system.too_short(study.scale, domains)
        for name, system in study.systems.items()
    }
    if study.scale["engine"] == "simulate":
        weighed = [m.name for m in study.methods.values() if m.swarm_distribution in _OF_TEXT]
        found |= dict.fromkeys(weighed, "text, whose entropy weighs its swarm")
        for name, system in study.systems.items():
            if system.needs_training:
                found[name] = "runs to look into"
            elif system.cheaper_sizes:
                found[name] = "models of other sizes"
    return {name: why for name, why in found.items() if why}


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


def _costs(
    study: Plan, methods: Iterable[MixingMethod], systems: Iterable[System]
) -> dict[str, dict[str, Any]]:
    """What each method trains besides the target run, here, and in GPU-hours at `paper`."""
    paper = load_scale(study.root / "config" / "scales", "paper")
    there = len(load_updates(study.root / paper["updates"]).initial)
    here = len(study.updates.sequence.initial)
    found = {}
    for method in methods:
        spent = [Spent(method.proxy_size, _runs(study, method))]
        on_paper = [Spent(method.proxy_size, method.swarm_size(there))]
        found[method.name] = _cost(study, spent) | _hours(on_paper, paper)
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
)
