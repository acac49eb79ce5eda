"""Collect a swarm's mixes and metrics into ``ratios.csv`` and ``metrics.csv``."""

from pathlib import Path
from typing import Any

import numpy as np

from olmix.provenance.job import job_log
from olmix.study.mixes import collect_metrics
from olmix.tables import read_mixes, write_table


def main(mixes: Path, evaluations: list[Path], ratios: Path, metrics: Path) -> None:
    """Join what was asked for with what was measured; runs keep the order of the mixes.

    A round that asked for no run has tables without rows, the second without tasks.
    """
    runs, domains, weights = read_mixes(mixes, may_be_empty=True)
    if not runs:
        write_table(ratios, [], domains, weights)
        write_table(metrics, [], [], np.empty((0, 0)))
        return
    files = {path.stem: path for folder in evaluations for path in folder.glob("*.json")}
    rows = [index for index, run in enumerate(runs) if run in files]
    measured = [runs[index] for index in rows]
    tasks, values = collect_metrics({run: files[run] for run in measured})
    write_table(ratios, measured, domains, weights[rows])
    write_table(metrics, measured, tasks, values)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            mixes=Path(snakemake.input.mixes),
            evaluations=[Path(folder) for folder in snakemake.input.evaluations],
            ratios=Path(snakemake.output.ratios),
            metrics=Path(snakemake.output.metrics),
        )
