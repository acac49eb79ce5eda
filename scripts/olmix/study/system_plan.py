"""What the systems of `config/methods/` train, in a plan: rounds, a run or two, target runs."""

from olmix.study.plan import TARGET, TOPICS, Plan
from olmix.study.spec import MixesSpec, SwarmSpec
from olmix.study.systems import AnswerSpec, RoundSpec, SteeringSpec, System
from olmix.systems.kinds.rounds import Rounds
from olmix.systems.kinds.steering import MovingWeights
from olmix.updates.sequence import INITIAL

__all__ = ["ANSWERS", "answer_with", "plan_rounds", "plan_run", "plan_targets", "train_answers"]

#: The table of the mixes that systems answer with.
ANSWERS = "systems"
_SEED = 80  # of the rounds' runs


def answer_with(study: Plan, system: System) -> list[str]:
    """Add what a static system trains, and its answer; the swarms that it trains."""
    swarms: list[str] = []
    if system.kind is Rounds:
        swarms = plan_rounds(study, system)
    elif system.proxy_size:
        swarms = [plan_run(study, system)]
    study.answers[system.name] = AnswerSpec(system.name, system.name, tuple(swarms))
    return swarms


def plan_rounds(study: Plan, system: System) -> list[str]:
    """Add a swarm for each round; its mixes come from the tables of the rounds before."""
    domains = len(study.updates.sequence.initial)
    sizes = system.round_sizes(domains, study.scale["methods"]["most_rounds"])
    before: list[str] = []
    for number, size in enumerate(sizes):
        name = f"{system.name}-round{number}"
        study.rounds[name] = RoundSpec(name, system.name, size, number, tuple(before))
        study.swarms[name] = SwarmSpec(
            name, name, str(system.proxy_size), size, seed=_SEED + number, made_by="ask_round",
            stage=INITIAL,
        )  # fmt: skip
        study.after[name] = tuple(before)
        before.append(name)
    return before


def plan_run(study: Plan, system: System) -> str:
    """Add the one run of a system, after that of its reference model if it has one."""
    name, reference = f"{system.name}-run", None
    if system.reference:
        reference = f"{system.name}-reference"
        study.sample(MixesSpec(reference, TOPICS, 1, kind=system.reference), system.proxy_size)
    study.sample(MixesSpec(name, TOPICS, 1, kind=str(system.starts_from)), system.proxy_size)
    if system.kind is MovingWeights:
        study.steering[name] = SteeringSpec(system.name, reference=reference)
        study.after[name] = (reference,) if reference else ()
    return name


def plan_targets(study: Plan, system: System) -> str:
    """Add the target runs whose mix a system moves, each with another order of its data."""
    name, single, repeats = f"{system.name}-target", None, study.scale["target_repeats"]
    if system.proxy_size:
        single, domains = f"{system.name}-single", len(study.updates.sequence.initial)
        study.sample(MixesSpec(single, TOPICS, domains, kind="one_domain"), system.proxy_size)
    study.sample(MixesSpec(name, TOPICS, repeats, kind=str(system.starts_from)), TARGET)
    study.steering[name] = SteeringSpec(system.name, single=single)
    study.after[name] = (single,) if single else ()
    return name


def train_answers(study: Plan) -> list[str]:
    """Add the target runs on what systems answered with, a swarm for each repetition."""
    names = tuple(study.answers)
    needed = dict.fromkeys(s for answer in study.answers.values() for s in answer.swarms)
    swarms = []
    for seed in range(study.scale["target_repeats"]):
        name = f"{ANSWERS}-target" + (f"-repeat{seed}" if seed else "")
        study.swarms[name] = SwarmSpec(
            name, ANSWERS, TARGET, len(names), names, seed=seed, made_by="propose_systems",
            stage=INITIAL,
        )  # fmt: skip
        study.after[name] = tuple(needed)
        swarms.append(name)
    return swarms
