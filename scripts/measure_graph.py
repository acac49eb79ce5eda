"""Measure what training on each domain alone does to the loss of every other."""

import logging
from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.steered_runs import measure_graph, run_folders


def main(data: Path, jobs: list[Path], out: Path) -> None:
    """Write the graph of the domains: its rows are what was trained on."""
    graph = measure_graph(run_folders(jobs), Corpus.open(data / "corpus"))
    write_json(out, graph)
    logging.info("%d domains", len(graph["domains"]))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            data=Path(snakemake.input.data),
            jobs=[Path(folder) for folder in snakemake.input.runs],
            out=Path(snakemake.output.graph),
        )
