"""Write the report's page of runtimes and provenance, and the text it opens with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from olmix.files import read_json, write_text
from olmix.presentation.report.landing import landing_text
from olmix.presentation.report.overview import overview_caption, overview_page, runtime_table
from olmix.provenance.job import job_log


def main(
    scale: str,
    runs: Sequence[tuple[str, int]],
    benchmarks: Path,
    answers: Mapping[str, Path],
    figure: Path,
    out: Path,
) -> None:
    """Write ``out`` (.html), its caption, and ``landing.rst`` beside it."""
    records = {name: folder / "provenance.json" for name, folder in answers.items()}
    provenances = {name: read_json(path) for name, path in records.items() if path.is_file()}
    runtimes = runtime_table(benchmarks)
    write_text(out, overview_page(runtimes, provenances))
    write_text(out.with_suffix(".rst"), overview_caption(runtimes) + "\n")
    landing = landing_text(scale, runs, answers, provenances, figure)
    write_text(out.with_name("landing.rst"), landing + "\n")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            scale=snakemake.params.scale,
            runs=snakemake.params.runs,
            benchmarks=Path(snakemake.params.benchmarks),
            answers={name: Path(snakemake.input[name]) for name in snakemake.params.answers},
            figure=Path(snakemake.input.figure),
            out=Path(snakemake.output.page),
        )
