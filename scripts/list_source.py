"""Ask the hub which files a source has."""

import logging
import os
from pathlib import Path
from typing import Any

from olmix.corpus.hub import open_hub
from olmix.corpus.shards import list_files
from olmix.corpus.sources import TextSource
from olmix.files import write_json
from olmix.provenance.job import job_log


def main(source: TextSource, hub: str, most_files: int | None, out: Path) -> None:
    """Write the listing of files, sizes and hashes."""
    listing = list_files(source, open_hub(hub, os.environ.get("HF_TOKEN")), most_files)
    wanted = sum(file["size"] for file in listing["files"])
    logging.info("%d files, %.2f GB", len(listing["files"]), wanted / 1e9)
    write_json(out, listing)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            source=TextSource(**snakemake.params.source),
            hub=snakemake.params.hub,
            most_files=snakemake.params.most_files,
            out=Path(snakemake.output.listing),
        )
