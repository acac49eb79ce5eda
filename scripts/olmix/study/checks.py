"""What is refused before anything starts: sizes that cannot work, caps that cannot be met."""

import numpy as np

from olmix.domains import DomainSet, check_caps
from olmix.errors import OlmixError
from olmix.study.compute import Machine, RunCost
from olmix.study.scale import Scale
from olmix.study.space import open_space
from olmix.study.spec import Plan
from olmix.update_sequence import UpdateSequence

__all__ = ["check_plan"]

# What the data of a scale must be for each engine.
_DATA = {"train": ("world", "corpora"), "simulate": ("law",)}

# Families with m+1 unknowns per task, which fewer runs leave undetermined.
_LINEAR = ("log_linear",)


def check_plan(plan: Plan, scale: Scale, sequence: UpdateSequence) -> None:
    """Refuse a scale whose questions cannot be answered, naming the setting at fault."""
    _check_engine(scale)
    _check_question_sizes(plan, scale, sequence)
    spaces = {name: open_space(spec.space, sequence) for name, spec in plan.mixes.items()}
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
            if proposal.regressor in _LINEAR and runs < domains + 1:
                raise OlmixError(
                    f"{where}: {runs} runs for {domains} domains, a log-linear fit needs at least "
                    f"{domains + 1}"
                )
    for label, requested in scale["requested_tokens"].items():
        _check_caps(sequence.initial, scale, label, requested)


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
