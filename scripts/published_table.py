"""The paper's values, ours, and the difference; what is missing is said in the table."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.files import content_hash, read_json, write_csv, write_json, write_text
from olmix.provenance.job import job_log
from olmix.published.comparison import Findings, comparison_table
from olmix.published.laws import summarised
from olmix.published.proposed import errors_by_multiplier
from olmix.published.regression import size_findings


def main(
    manifest: Path,
    swarms: Path,
    fits: Sequence[Path],
    laws: Sequence[Path],
    proposals: Path,
    answers: Sequence[Path],
    settings: dict[str, Any],
    out: Path,
) -> None:
    """Write the tables of all parts, ``comparison.csv`` first, ``notes.txt`` and provenance."""
    regression, by_multiplier = _joined(fits), summarised(_joined(laws))
    parts = [size_findings(regression).to_dict()]
    parts += [read_json(answer / "findings.json") for answer in answers]
    table = comparison_table(settings["paper"], Findings.joined(parts))
    for name, frame in (
        ("comparison", table),
        ("regression", regression),
        ("laws", by_multiplier),
        ("swarm_size", errors_by_multiplier(pd.read_csv(proposals))),
    ):
        write_csv(out / f"{name}.csv", frame)
    write_text(out / "notes.txt", (swarms / "notes.txt").read_text(encoding="utf-8"))
    inputs = read_json(manifest)
    write_json(out / "provenance.json", inputs | {"settings_hash": content_hash(settings["paper"])})
    counted = table["agrees"].value_counts()
    logging.info(
        "%d of the paper's values: %d agree, %d differ, %d not computed (%s)",
        len(table), counted.get("yes", 0), counted.get("no", 0), counted.get("", 0),
        out / "comparison.csv",
    )  # fmt: skip


def _joined(paths: Sequence[Path]) -> pd.DataFrame:
    """Tables of one shape as one; those without rows are left out, if there is another."""
    tables = [frame for frame in map(pd.read_csv, paths) if len(frame)]
    return pd.concat(tables) if tables else pd.read_csv(paths[0])


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            manifest=Path(snakemake.input.manifest),
            swarms=Path(snakemake.input.swarms),
            fits=[Path(path) for path in snakemake.input.fits],
            laws=[Path(path) for path in snakemake.input.laws],
            proposals=Path(snakemake.input.proposals),
            answers=[Path(path) for path in snakemake.input.answers],
            settings=snakemake.params.settings,
            out=Path(snakemake.output.answer),
        )
