"""What is refused before anything starts: sizes that cannot work, caps that cannot be met."""

import numpy as np

from olmix.cost.compute import Machine, RunCost
from olmix.domains import DomainSet, check_caps
from olmix.errors import OlmixError
from olmix.regressors import FAMILIES
from olmix.study.plan import Plan
from olmix.study.scale import Scale
from olmix.study.space import open_space
from olmix.updates.sequence import UpdateSequence

__all__ = ["check_plan"]

# What the data of a scale must be for each engine.
_DATA = {"train": ("world", "corpora", "public"), "simulate": ("law",)}


def check_plan(plan: Plan) -> None:
    """Refuse a scale whose questions cannot be answered, naming the setting at fault."""
    scale, sequence = plan.scale, plan.updates.sequence
    _check_engine(scale)
    if not scale.of_own_text:
        _check_question_sizes(plan, scale, sequence)
    # Pools of single updates are over stages of their own.
    spaces = {
        name: open_space(spec.space, sequence)
        for name, spec in plan.mixes.items()
        if name not in plan.update_files
    }
    machine = Machine.from_dict(scale["hardware"])
    for name in {swarm.model: None for swarm in plan.swarms.values()}:
        _check_fits(scale, name, machine)
    for study in plan.studies.values():
        for proposal in study.proposals:
            swarm = plan.swarms[proposal.swarm]
            domains = len(spaces[swarm.mixes].names)
            runs = swarm.size if proposal.runs is None else proposal.runs
            where = f"scale '{scale.name}', proposal {study.name}/{proposal.name}"
            if runs > swarm.size:
                raise OlmixError(
                    f"{where}: {runs} runs of a swarm of {swarm.size} ('{swarm.name}'); raise its "
                    "size in swarm_sizes or pool_multiplier"
                )
            if FAMILIES[proposal.regressor].linear and runs < domains + 1:
                raise OlmixError(
                    f"{where}: {runs} runs for {domains} domains, a log-linear fit needs at least "
                    f"{domains + 1}"
                )
    counted = sequence.stages()[-1].domains if scale.of_own_text else sequence.initial
    for label, requested in scale["requested_tokens"].items():
        _check_caps(counted, scale, label, requested)


def _check_fits(scale: Scale, name: str, machine: Machine) -> None:
    """A model's batch must split over its devices, and one sequence of it fit on each."""
    model = scale.model(name)
    try:
        RunCost(name, model, machine).training_request(model["runs_per_job"])
    except OlmixError as error:
        raise OlmixError(f"scale '{scale.name}', {error}") from None


def _check_engine(scale: Scale) -> None:
    """An engine needs its kind of data; to simulate a model is to know its noise."""
    engine, kinds = scale["engine"], _DATA[scale["engine"]]
    if not set(scale["data"]) & set(kinds):
        raise OlmixError(
            f"scale '{scale.name}': engine '{engine}' with data {'/'.join(scale['data'])}, "
            f"expected {' or '.join(kinds)}"
        )
    for name, model in scale["models"].items():
        if engine == "simulate" and "noise" not in model:
            raise OlmixError(
                f"scale '{scale.name}': model '{name}' has no noise, which engine 'simulate' needs"
            )


def _check_caps(domains: DomainSet, scale: Scale, label: str, requested: float) -> None:
    try:
        check_caps(domains.names, domains.caps(scale["repetition"], requested), requested)
    except OlmixError as error:
        raise OlmixError(f"scale '{scale.name}', requested_tokens {label}: {error}") from None


def _check_question_sizes(plan: Plan, scale: Scale, sequence: UpdateSequence) -> None:
    """Settings of single questions that go beyond what their swarms hold."""
    most = len(sequence.initial)
    counts = scale["rq2"]["domains"]
    if max(counts) != most:
        raise OlmixError(
            f"scale '{scale.name}', rq2.domains: the largest is {max(counts)}, expected {most}, "
            "the number of topics, whose swarm it uses"
        )
    held_out = scale["rq4"]["held_out"]
    for level, sizes in scale["rq4"]["sizes"].items():
        pool = plan.swarms[level].size - held_out
        if max(sizes) > pool:
            raise OlmixError(
                f"scale '{scale.name}', rq4.sizes.{level}: {max(sizes)} runs, but {held_out} of "
                f"{plan.swarms[level].size} are held out and {pool} are left"
            )
    for name in scale["rq1"]["models"]:
        scale.model(name)
    if not np.isfinite(scale["repetition"]):
        raise OlmixError(f"scale '{scale.name}': repetition is {scale['repetition']}")
