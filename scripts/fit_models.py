"""Fit the regression models of a study's proposals (Algorithm 1, lines 4-6)."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.job import job_log
from olmix.study.proposals import fit_proposal
from olmix.study.spec import StudySpec, from_params
from olmix.tables import read_swarm


def main(data: Path, swarms: dict[str, Path], study: dict[str, Any], out: Path) -> None:
    """Write ``<proposal>.json`` in ``out``: one fitted model each."""
    families = read_json(data / "families.json")
    tables = {
        name: read_swarm(at / "ratios.csv", at / "metrics.csv") for name, at in swarms.items()
    }
    spec = from_params(StudySpec, study)
    for proposal in spec.proposals:
        model = fit_proposal(proposal, tables[proposal.swarm], families)
        model.save(out / f"{proposal.name}.json")
    logging.info("%d models fitted on %s", len(spec.proposals), ", ".join(tables))


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        names = snakemake.params.swarms
        main(
            data=Path(snakemake.input.data),
            swarms={n: Path(p).parent for n, p in zip(names, snakemake.input.ratios, strict=True)},
            study=snakemake.params.study,
            out=Path(snakemake.output.models),
        )
