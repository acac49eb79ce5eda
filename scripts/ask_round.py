"""Ask a system in rounds for the runs of its next round, from those of the rounds before."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.files import read_json, write_json
from olmix.provenance.job import job_log
from olmix.study.chain import Chain
from olmix.study.space import stage_domains
from olmix.study.spec import from_params
from olmix.study.system_answers import RoundRuns, RunsSoFar, ask, read_rounds, system_request
from olmix.study.system_updates import SystemAtStage
from olmix.study.systems import RoundSpec, as_system
from olmix.systems.kinds.rounds import NextRuns
from olmix.tables import write_table
from olmix.updates.sequence import load_updates


def asked_of_all(
    data: Path,
    domains: DomainSet,
    spec: RoundSpec,
    told: dict[str, Any],
    request: dict[str, float],
    rounds: dict[str, RoundRuns | None],
) -> NextRuns:
    """The runs of a round over all of some domains."""
    system = as_system(told["system"])
    evidence = RunsSoFar(domains, rounds, families=read_json(data / "families.json"))
    asked = system_request(system, domains, **request)
    return ask(system, spec.before, told, evidence, asked, size=spec.size, seed=spec.number)


def asked_by_chains(
    stage: SystemAtStage, chains: list[tuple[dict[str, Any], int]], number: int
) -> dict[str, NextRuns]:
    """The runs of a round that each chain of updates asks for, by what their names begin with."""
    found = {}
    for record, size in chains:
        chain = Chain(**record)
        name = f"{chain.name}-{stage.work.stage}-round{number}"
        found[name] = stage.ask(chain, size=size, number=number)
    return found


def main(
    spec: RoundSpec,
    domains: DomainSet,
    found: Mapping[str, NextRuns],
    mixes: Path,
    out: Path,
) -> None:
    """Write the mixes in the layout of ``ratios.csv``, and which model each run trains."""
    names = [f"{run}-{row:04d}" for run, asked in found.items() for row in range(len(asked.mixes))]
    write_table(mixes, names, domains.names, np.vstack([asked.mixes for asked in found.values()]))
    trained = [model for asked in found.values() for model in asked.models]
    reasons = {run: asked.why for run, asked in found.items() if asked.why}
    write_json(out, {"models": dict(zip(names, trained, strict=True)), "why": reasons})
    logging.info("%s: %d runs of %d at most %s", spec.name, len(names), spec.size, reasons or "")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        files, params = snakemake.input, snakemake.params
        spec = from_params(RoundSpec, params.round)
        data = Path(files.data)
        sequence = load_updates(params.updates, DomainSet.load(data / "domains.json"))
        domains = stage_domains(sequence, params.stage)
        if spec.step:
            stage = SystemAtStage.from_job(snakemake)
            found = asked_by_chains(stage, params.chains, spec.number)
        else:
            tables = [files.get(key, []) for key in ("asked", "ratios", "metrics")]
            rounds = read_rounds(spec.before, *tables)
            asked = asked_of_all(data, domains, spec, params.method, params.request, rounds)
            found = {spec.name: asked}
        main(
            spec=spec,
            domains=domains,
            found=found,
            mixes=Path(snakemake.output.mixes),
            out=Path(snakemake.output.asked),
        )
