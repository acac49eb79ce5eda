"""Give the score of each run of a job its place in the results, by name: one JSON per run.

Training scores a run as soon as it is finished, while its model is on the device it was trained on.
This is a copy, which needs no GPU; a score of other weights or of another suite is refused.
"""

import logging
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.files import read_json, write_json
from olmix.provenance.job import job_log


def main(data: Path, runs: Path, max_instances: int | None, out: Path) -> None:
    """Write ``<run>.json`` in ``out`` for every folder in ``runs``."""
    suite = Suite.open(data / "suite")
    folders = sorted(folder for folder in runs.iterdir() if folder.is_dir())
    out.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        score = read_json(folder / "eval.json")
        expected = {
            "run": read_json(folder / "run.json")["hash"],
            "suite": {"name": suite.name, "hash": suite.hash},
            "subsampled": max_instances,
        }
        for key, value in expected.items():
            if score.get(key) != value:
                raise OlmixError(
                    f"{folder / 'eval.json'}: {key} is {score.get(key)!r}, expected {value!r}; "
                    f"remove {runs} to have its runs scored again"
                )
        write_json(out / f"{folder.name}.json", score)
    logging.info("%d runs were scored after training", len(folders))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            data=Path(snakemake.input.data),
            runs=Path(snakemake.input.runs),
            max_instances=snakemake.params.max_instances,
            out=Path(snakemake.output.evaluations),
        )
