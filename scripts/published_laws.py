"""One regression family on every released swarm: fit of unseen runs for every multiplier c."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import write_csv
from olmix.provenance.job import job_log
from olmix.published.catalogue import Catalogue
from olmix.published.laws import fit_by_multiplier


def main(swarms: Path, law: str, settings: dict[str, Any], out: Path) -> None:
    """Write the held-out fits of all swarms that are here."""
    families = settings["regression"]["families"]
    fits = fit_by_multiplier(Catalogue.load(swarms), law, families, settings["laws"])
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
