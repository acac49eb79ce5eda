"""Fit the regression models of a study's proposals (Algorithm 1, lines 4-6)."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.provenance.job import job_log
from olmix.study.proposals import fit_proposal
from olmix.study.spec import StudySpec, from_params
from olmix.tables import SwarmTable, read_swarms


def main(data: Path, swarms: dict[str, SwarmTable], study: dict[str, Any], out: Path) -> None:
    """Write ``<proposal>.json`` in ``out``: one fitted model each."""
    families = read_json(data / "families.json")
    spec = from_params(StudySpec, study)
    out.mkdir(parents=True, exist_ok=True)  # a study may have nothing to fit
    for proposal in spec.proposals:
        model = fit_proposal(proposal, swarms[proposal.swarm], families)
        model.save(out / f"{proposal.name}.json")
    logging.info("%d models fitted on %s", len(spec.proposals), ", ".join(swarms))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        tables = snakemake.input
        main(
            data=Path(snakemake.input.data),
            swarms=read_swarms(snakemake.params.swarms, tables.ratios, tables.metrics),
            study=snakemake.params.study,
            out=Path(snakemake.output.models),
        )
