"""Sample the mixes of a swarm over its space (RQ3; Algorithm 1, line 2)."""

import logging
from pathlib import Path
from typing import Any

from olmix.domains import DomainSet
from olmix.provenance.job import job_log
from olmix.study.mixes import sample_mixes
from olmix.study.spec import MixesSpec, from_params
from olmix.tables import write_table
from olmix.updates.sequence import load_updates


def main(
    data: Path,
    updates: Path,
    prior: Path | None,
    spec: MixesSpec,
    distributions: dict[str, Any],
    caps: dict[str, float],
    priors: str,
    out: Path,
) -> None:
    """Write the mixes in the layout of ``ratios.csv``."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"), priors=priors)
    swarm = sample_mixes(
        spec,
        sequence,
        prior=prior,
        distributions=distributions,
        caps=caps,
        corpus=data / "corpus",
    )
    report = swarm.report
    logging.info("%d mixes over %d domains", *swarm.mixes.shape)
    logging.info("%d tries, %.3g %% of them accepted", report.tries, 100 * report.acceptance_rate)
    if report.lifted:
        logging.warning("%d mixes had small weights raised to the floor", report.lifted)
    if report.warning:
        logging.warning("%s", report.warning)
    names = [f"{spec.name}-{index:04d}" for index in range(len(swarm))]
    write_table(out, names, swarm.names, swarm.mixes)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        mixes = from_params(MixesSpec, snakemake.params.spec)
        centre = None
        if mixes.prior:
            _, proposal = mixes.prior
            centre = Path(snakemake.input.prior) / f"{proposal}.json"
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            prior=centre,
            spec=mixes,
            distributions=snakemake.params.distributions,
            caps=snakemake.params.caps,
            priors=snakemake.params.priors,
            out=Path(snakemake.output.mixes),
        )
