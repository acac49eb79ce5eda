"""Train the runs that a job's list names, and give each its place in the results, by name.

Training is `python -m olmix train` in processes of its own: of one it may become several, on
several nodes. They run in this Python and with this library, whatever is found by name elsewhere.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.provenance.job import job_log, run_command

FILES = ("weights.safetensors", "run.json", "eval.json")


def train(options: Mapping[str, str | int | Path], log: Path) -> None:
    """Train the runs of a list; finished ones are not trained again."""
    status = run_command("train", options, log)
    if status != 0:
        raise OlmixError(f"training ended with status {status}; finished runs are kept")


def link(runs: Path, out: Path) -> None:
    """Link every run that ``runs`` lists into ``out``: one folder per run.

    Links to the store of runs take no space, and the store keeps a run when the workflow deletes
    the outputs of a failed job.
    """
    out.mkdir(parents=True, exist_ok=True)
    for entry in read_json(runs):
        folder = runs.parent / entry["folder"]
        for name in FILES:
            if not (folder / name).is_file():
                raise OlmixError(f"{folder}: run '{entry['names'][0]}' is not finished, no {name}")
        for run in entry["names"]:
            place = out / run
            place.mkdir(parents=True, exist_ok=True)
            for name in FILES:
                (place / name).unlink(missing_ok=True)
                os.link(folder / name, place / name)
    logging.info("runs of %s are in %s", runs, out)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        listed = Path(snakemake.input.runs) / f"{snakemake.wildcards.shard}.json"
        data, granted = Path(snakemake.input.data), snakemake.resources
        options = {
            "--runs": listed,
            "--state": snakemake.params.state,
            "--suite": data / "suite",
            "--tokenizer": data / "tokenizer.json",
            **snakemake.params.scoring,
            "--nodes": granted.nodes,
            "--processes": granted.processes,
            "--cpus": snakemake.threads,
            "--slurm-minutes": granted.runtime,
            "--micro-batch": granted.micro_batch,
            "--sharding": granted.sharding,
            "--checkpoint-seconds": granted.checkpoint_seconds,
        }
        if read_json(listed):  # a round may have asked for nothing
            train(options, Path(snakemake.log[0]))
        link(listed, Path(snakemake.output.runs))
