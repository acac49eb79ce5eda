"""Propose the mixes of a study from its fitted models (Algorithm 1, line 7)."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.job import job_log
from olmix.study.proposals import make_proposal
from olmix.study.space import open_space, stage_domains
from olmix.study.spec import SpaceSpec, StudySpec, from_params
from olmix.surrogate import Surrogate
from olmix.tables import read_swarm, write_table
from olmix.update_sequence import load_updates


def main(
    data: Path,
    updates: Path,
    models: Path,
    swarms: dict[str, Path],
    spaces: dict[str, dict[str, Any]],
    study: dict[str, Any],
    requested: float,
    out: Path,
    table: Path,
) -> None:
    """Write ``<proposal>.json`` in ``out``, and all of them over single domains as a table."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    tables = {
        name: read_swarm(at / "ratios.csv", at / "metrics.csv") for name, at in swarms.items()
    }
    final = stage_domains(sequence, "final").names
    rows, names = [], []
    for spec in from_params(StudySpec, study).proposals:
        space = open_space(SpaceSpec(**spaces[spec.swarm]), sequence)
        model = Surrogate.load(models / f"{spec.name}.json")
        proposal = make_proposal(spec, model, tables[spec.swarm], space, requested)
        proposal.save(out / f"{spec.name}.json")
        rows.append(proposal.mix.aligned(final).weights)
        names.append(spec.name)
        logging.info("%s: %s, predicted %.4f", spec.name, proposal.status, proposal.average)
    write_table(table, names, final, np.array(rows))


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        labels = snakemake.params.swarms
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            models=Path(snakemake.input.models),
            swarms={n: Path(p).parent for n, p in zip(labels, snakemake.input.ratios, strict=True)},
            spaces=snakemake.params.spaces,
            study=snakemake.params.study,
            requested=snakemake.params.requested,
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
