"""Score the runs of a job on every task of the suite: one JSON per run."""

import logging
from pathlib import Path

import torch

from olmix.evaluation.runs import evaluate_run
from olmix.evaluation.suite import Suite, TokenisedSuite
from olmix.files import write_json
from olmix.job import job_log


def main(data: Path, runs: Path, batch_tokens: int, max_instances: int | None, out: Path) -> None:
    """Write ``<run>.json`` in ``out`` for every folder in ``runs``."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    suite = TokenisedSuite(Suite.open(data / "suite"), data / "tokenizer.json")
    folders = sorted(folder for folder in runs.iterdir() if folder.is_dir())
    for number, folder in enumerate(folders, start=1):
        result = evaluate_run(
            folder, suite, device=device, batch_tokens=batch_tokens, max_instances=max_instances
        )
        write_json(out / f"{folder.name}.json", result)
        if number % 10 == 0 or number == len(folders):
            logging.info("%d of %d runs scored, last %.4f", number, len(folders), result["average"])


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        torch.set_num_threads(snakemake.threads)
        main(
            data=Path(snakemake.input.data),
            runs=Path(snakemake.input.runs),
            batch_tokens=snakemake.params.batch_tokens,
            max_instances=snakemake.params.max_instances,
            out=Path(snakemake.output.evaluations),
        )
