"""Print where the time of all jobs so far went, from their benchmark files."""

import sys

from olmix.job import job_log
from olmix.study.timing import time_lines

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        sys.stdout.write("\n".join(time_lines(snakemake.params.benchmarks)) + "\n")
