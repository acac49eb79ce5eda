"""Propose the mixes of a study from its fitted models (Algorithm 1, line 7)."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.provenance.job import job_log
from olmix.regressors.surrogate import Surrogate
from olmix.study.proposals import fixed_mix, make_proposal
from olmix.study.space import FINAL, open_space, stage_domains
from olmix.study.spec import SpaceSpec, StudySpec, from_params
from olmix.tables import SwarmTable, read_swarms, write_table
from olmix.updates.sequence import load_updates


def main(
    data: Path,
    updates: Path,
    models: Path,
    swarms: dict[str, SwarmTable],
    spaces: dict[str, dict[str, Any]],
    study: dict[str, Any],
    requested: float,
    repetition: float,
    search: dict[str, int],
    out: Path,
    table: Path,
) -> None:
    """Write ``<proposal>.json`` in ``out``, and all of them over single domains as a table."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    final = stage_domains(sequence, FINAL).names
    rows, names = [], []
    asked = from_params(StudySpec, study)
    for spec in asked.proposals:
        space = open_space(from_params(SpaceSpec, spaces[spec.swarm]), sequence)
        model = Surrogate.load(models / f"{spec.name}.json")
        proposal = make_proposal(spec, model, swarms[spec.swarm], space, requested, search)
        proposal.save(out / f"{spec.name}.json")
        rows.append(proposal.mix.aligned(final).weights)
        names.append(spec.name)
        logging.info("%s: %s, predicted %.4f", spec.name, proposal.status, proposal.average)
    for spec in asked.fixed:
        proposal = fixed_mix(spec, sequence, repetition, requested)
        proposal.save(out / f"{spec.name}.json")
        rows.append(proposal.mix.aligned(final).weights)
        names.append(spec.name)
    write_table(table, names, final, np.array(rows))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        tables = snakemake.input
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            models=Path(snakemake.input.models),
            swarms=read_swarms(snakemake.params.swarms, tables.ratios, tables.metrics),
            spaces=snakemake.params.spaces,
            study=snakemake.params.study,
            requested=snakemake.params.requested,
            repetition=snakemake.params.repetition,
            search=snakemake.params.search,
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
