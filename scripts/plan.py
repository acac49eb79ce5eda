"""Print how many proxy and target runs each question needs at the scale in use."""

import sys

from olmix.job import job_log

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        sys.stdout.write("\n".join(snakemake.params.lines) + "\n")
