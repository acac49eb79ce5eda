"""Make the hub of a rehearsal: text of this machine in the layout of the public datasets."""

from pathlib import Path
from typing import Any

from olmix.corpus.sources import read_sources
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.rehearsal import make_hub

snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        made = make_hub(
            read_sources(snakemake.params.sources),
            snakemake.params.tokenizer,
            Path(snakemake.params.hub),
        )
        write_json(snakemake.output.made, made)
