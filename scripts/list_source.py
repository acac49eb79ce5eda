"""Ask the hub which files a source has, and whether they fit on the disk."""

import logging
import os
import shutil
from pathlib import Path
from typing import Any

from olmix.corpus.hub import open_hub
from olmix.corpus.shards import list_files
from olmix.corpus.sources import TextSource
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.provenance.job import job_log


def main(source: TextSource, hub: str, most_files: int | None, folder: Path, out: Path) -> None:
    """Write the listing; a source that would fill the disk is refused here, at the start."""
    listing = list_files(source, open_hub(hub, os.environ.get("HF_TOKEN")), most_files)
    wanted = sum(file["size"] for file in listing["files"])
    logging.info("%d files, %.2f GB", len(listing["files"]), wanted / 1e9)
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise OlmixError(
            f"{folder}: {wanted / 1e9:,.1f} GB of source '{source.name}', {free / 1e9:,.1f} GB "
            "free; link a larger disk there, or lower most_files of the scale"
        )
    write_json(out, listing)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            source=TextSource(**snakemake.params.source),
            hub=snakemake.params.hub,
            most_files=snakemake.params.most_files,
            folder=Path(snakemake.params.folder),
            out=Path(snakemake.output.listing),
        )
