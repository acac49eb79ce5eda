"""Print what the cluster does against what the scale assumes, and write the measured table."""

import sys
from pathlib import Path
from typing import Any

from olmix.files import read_json, write_json, write_text
from olmix.preflight.report import Preflight, report_lines
from olmix.provenance.job import job_log


def main(
    scale: str, models: dict[str, Any], hardware: dict[str, Any], measured: list[Path], table: Path
) -> None:
    """Write the table, and beside it the report, which is also printed."""
    found = Preflight(models, hardware, {path.stem: read_json(path) for path in measured})
    report = "\n".join(report_lines(scale, found, str(table))) + "\n"
    write_json(table, found.table)
    write_text(table.with_name("report.txt"), report)
    sys.stdout.write(report)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            scale=snakemake.params.scale,
            models=snakemake.params.models,
            hardware=snakemake.params.hardware,
            measured=[Path(path) for path in snakemake.input.measured],
            table=Path(snakemake.params.table),
        )
