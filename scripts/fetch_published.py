"""Find the released swarms: in a local folder, or fetched from the public dataset."""

import logging
import os
from pathlib import Path
from typing import Any

from olmix.corpus.hub import PUBLIC, Hub
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.published.fetch import fetch_released, list_released


def main(dataset: str, revision: str, local: str | None, downloads: Path, out: Path) -> None:
    """Write where the swarms are, and every file with its SHA-256."""
    if local is None:
        hub = Hub(os.environ.get("HF_ENDPOINT", PUBLIC), os.environ.get("HF_TOKEN"))
        root = fetch_released(
            dataset,
            revision,
            downloads,
            hub,
            on_progress=lambda done, total: logging.info("%d of %d bytes", done, total),
        )
        origin = f"{dataset}@{revision}"
    else:
        root, origin = Path(local), "local folder"
    files = list_released(root)
    logging.info("%s: %d files in %s", origin, len(files), root)
    write_json(out, {"origin": origin, "root": str(root.resolve()), "files": files})


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            dataset=snakemake.params.dataset,
            revision=snakemake.params.revision,
            local=snakemake.params.local,
            downloads=Path(snakemake.params.downloads),
            out=Path(snakemake.output.manifest),
        )
