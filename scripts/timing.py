"""Print where the time of all jobs so far went, from their benchmark files."""

import sys
from typing import Any

from olmix.cost.timing import time_lines
from olmix.provenance.job import job_log

snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        sys.stdout.write("\n".join(time_lines(snakemake.params.benchmarks)) + "\n")
