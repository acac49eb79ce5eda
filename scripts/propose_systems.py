"""Write down the mix that each static system answers with, and all of them as a table."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.provenance.job import job_log
from olmix.study.plan import TOPICS
from olmix.study.space import stage_domains
from olmix.study.steered_runs import run_folders
from olmix.study.system_answers import RoundRuns, RunsSoFar, answer, read_rounds, system_request
from olmix.study.systems import as_system
from olmix.tables import write_table
from olmix.updates.sequence import load_updates


def main(
    data: Path,
    updates: Path,
    answers: list[dict[str, Any]],
    request: dict[str, float],
    rounds: dict[str, RoundRuns | None],
    runs: dict[str, Path],
    out: Path,
    table: Path,
) -> None:
    """Write ``<answer>.json`` in ``out``, and all of them over the initial domains as a table."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    domains = stage_domains(sequence, TOPICS.stage)
    evidence = RunsSoFar(domains, rounds, runs, read_json(data / "families.json"), data / "corpus")
    names, rows = [], []
    for spec in answers:
        system = as_system(spec["told"]["system"])
        asked = system_request(system, domains, **request)
        proposal = answer(system, spec["swarms"], spec["told"], evidence, asked)
        proposal.save(out / f"{spec['name']}.json")
        names.append(spec["name"])
        rows.append(proposal.mix.weights)
        logging.info("%s: %s", spec["name"], proposal.status)
    write_table(table, names, domains.names, np.array(rows))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        files, params = snakemake.input, snakemake.params
        trained = files.get("runs", [])
        main(
            data=Path(files.data),
            updates=Path(params.updates),
            answers=params.answers,
            request=params.request,
            rounds=read_rounds(
                params.rounds,
                files.get("asked", []),
                files.get("ratios", []),
                files.get("metrics", []),
            ),
            # train_proxies/<swarm>/<job>/<run>
            runs={f.parent.parent.name: f for f in run_folders(list(map(Path, trained)))},
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
