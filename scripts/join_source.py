"""Join the tokenised shards of a source into the corpus, by links."""

from pathlib import Path
from typing import Any

from olmix.corpus.shards import join_shards
from olmix.corpus.sources import TextSource
from olmix.provenance.job import job_log

snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        join_shards(
            TextSource(**snakemake.params.source),
            [Path(shard) for shard in snakemake.input.shards],
            Path(snakemake.params.corpus),
            Path(snakemake.output.domains),
        )
