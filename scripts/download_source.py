"""Download one shard of a source; files that are there are kept, partial ones completed."""

import os
from pathlib import Path
from typing import Any

from olmix.corpus.hub import open_hub
from olmix.corpus.shards import download_shard, shard_of
from olmix.corpus.sources import TextSource
from olmix.files import read_json
from olmix.provenance.job import job_log


def main(
    source: TextSource, listing: Path, shard: int, of: int, hub: str, to: str, out: Path
) -> None:
    """Fetch the shard's part of the listing below ``to``."""
    plan = shard_of(read_json(listing), source, shard, of)
    download_shard(plan, to, open_hub(hub, os.environ.get("HF_TOKEN")), out)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            source=TextSource(**snakemake.params.source),
            listing=Path(snakemake.input.listing),
            shard=int(snakemake.wildcards.shard),
            of=snakemake.params.shards,
            hub=snakemake.params.hub,
            to=snakemake.params.to,
            out=Path(snakemake.output.files),
        )
