"""RQ4 on the released swarm: the fit of one regression family for every swarm size."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import write_csv
from olmix.provenance.job import job_log
from olmix.published.catalogue import Catalogue
from olmix.published.regression import fit_by_size


def main(swarms: Path, law: str, settings: dict[str, Any], out: Path) -> None:
    """Write the held-out fits; an empty table where the swarm is missing."""
    fits = fit_by_size(Catalogue.load(swarms).get(settings["swarm"]), law, settings)
    write_csv(out, fits)
    logging.info("%s: %d fits", law, len(fits))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            swarms=Path(snakemake.input.swarms),
            law=snakemake.wildcards.law,
            settings=snakemake.params.settings,
            out=Path(snakemake.output.fits),
        )
