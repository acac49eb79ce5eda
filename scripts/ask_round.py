"""Ask a system in rounds for the runs of its next round, from those of the rounds before."""

import logging
from pathlib import Path
from typing import Any

from olmix.domains import DomainSet
from olmix.files import read_json, write_json
from olmix.provenance.job import job_log
from olmix.study.plan import TOPICS
from olmix.study.space import stage_domains
from olmix.study.spec import from_params
from olmix.study.system_answers import RoundRuns, RunsSoFar, ask, read_rounds, system_request
from olmix.study.systems import RoundSpec, System, as_system
from olmix.tables import write_table
from olmix.updates.sequence import load_updates


def main(
    data: Path,
    updates: Path,
    spec: RoundSpec,
    system: System,
    told: dict[str, Any],
    request: dict[str, float],
    rounds: dict[str, RoundRuns | None],
    mixes: Path,
    out: Path,
) -> None:
    """Write the mixes in the layout of ``ratios.csv``, and which model each run trains."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    domains = stage_domains(sequence, TOPICS.stage)
    evidence = RunsSoFar(domains, rounds, families=read_json(data / "families.json"))
    found = ask(spec, system, told, evidence, system_request(system, domains, **request))
    names = [f"{spec.name}-{index:04d}" for index in range(len(found.mixes))]
    write_table(mixes, names, domains.names, found.mixes)
    models = dict(zip(names, found.models, strict=True))
    write_json(out, {"models": models, "why": found.why})
    logging.info("%s: %d runs of %d at most %s", spec.name, len(names), spec.size, found.why)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        files, params = snakemake.input, snakemake.params
        asked = from_params(RoundSpec, params.round)
        main(
            data=Path(files.data),
            updates=Path(params.updates),
            spec=asked,
            system=as_system(params.system),
            told=params.told,
            request=params.request,
            rounds=read_rounds(
                asked.before,
                files.get("asked", []),
                files.get("ratios", []),
                files.get("metrics", []),
            ),
            mixes=Path(snakemake.output.mixes),
            out=Path(snakemake.output.asked),
        )
