"""Measure laws on the released runs: `olmix.measured`."""

from pathlib import Path
from typing import Any

from olmix.files import read_json, write_csv
from olmix.measured.check import score_unseen
from olmix.measured.files import load_measured, paper_domains, read_runs, source_of, write_laws
from olmix.measured.measure import measure
from olmix.provenance.job import job_log


def main(manifest: Path, settings_file: Path, laws: Path, unseen: Path) -> None:
    """Write the laws, and how well each form predicts runs it has not seen."""
    released, settings = read_json(manifest), load_measured(settings_file)
    runs = read_runs(Path(released["root"]), settings["swarms"])
    measured = measure(runs, settings, paper_domains())
    write_laws(laws, measured, source_of(measured, released["files"], "snakemake measure_law"))
    write_csv(unseen, score_unseen(measured).round(4))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            manifest=Path(snakemake.input.manifest),
            settings_file=Path(snakemake.input.settings),
            laws=Path(snakemake.output.laws),
            unseen=Path(snakemake.output.unseen),
        )
