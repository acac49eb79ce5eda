"""Print what every question costs at the scale in use, and write it as tables."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from olmix.cost.compute import Machine
from olmix.cost.report import StudyCost, cost_lines, finished_runs
from olmix.files import write_text
from olmix.provenance.job import job_log


def main(params: Mapping[str, Any]) -> None:
    """Write questions, models and strategies into ``<results>/cost``, and print them all."""
    results = Path(params["results"])
    cost = StudyCost(
        models=params["models"],
        machine=Machine.from_dict(params["hardware"]),
        devices=params["devices"],
        swarms=params["swarms"],
        questions=params["questions"],
        chains=params["chains"],
        finished={name: finished_runs(results, name) for name in params["swarms"]},
    )
    write_table(results / "cost" / "questions.csv", cost.question_rows())
    write_table(results / "cost" / "models.csv", cost.model_rows())
    write_table(results / "cost" / "strategies.csv", cost.strategy_rows())
    sys.stdout.write(
        "\n".join(cost_lines(params["scale"], cost, trained=params["engine"] == "train")) + "\n"
    )


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows of a table as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["empty"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(dict(snakemake.params.items()))
