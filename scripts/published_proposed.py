"""RQ2 from the authors' own proposed mixes, judged by laws of the DCLM swarm."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import write_csv
from olmix.provenance.job import job_log
from olmix.published.catalogue import Catalogue
from olmix.published.proposed import judged


def main(swarms: Path, mixes: Path | None, settings: dict[str, Any], out: Path) -> None:
    """Write every mix with its error; an empty table where swarm or mixes are missing."""
    found = judged(Catalogue.load(swarms).get(settings["swarm"]), mixes, settings["laws"])
    write_csv(out, found)
    logging.info("%d proposed mixes judged", len(found))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            swarms=Path(snakemake.input.swarms),
            mixes=Path(snakemake.input.mixes[0]) if snakemake.input.get("mixes") else None,
            settings=snakemake.params.settings,
            out=Path(snakemake.output.proposals),
        )
