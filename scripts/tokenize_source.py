"""Tokenise one shard of a source; files that were tokenised before are not read again."""

from pathlib import Path
from typing import Any

from olmix.corpus.shards import tokenize_shard
from olmix.corpus.sources import TextSource
from olmix.provenance.job import job_log

snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        tokenize_shard(
            TextSource(**snakemake.params.source),
            int(snakemake.wildcards.shard),
            snakemake.params.shards,
            downloaded=Path(snakemake.input.files[0]) if snakemake.input.files else None,
            tokenizer=Path(snakemake.input.tokenizer),
            processes=snakemake.threads,
            to=Path(snakemake.params.to),
            out=Path(snakemake.output.stores),
        )
