"""Train the runs that a job's list names, and give each its place in the results, by name.

Training is `python -m olmix train` in processes of its own: of one it may become several, on
several nodes. They run in this Python and with this library, whatever is found by name elsewhere.
"""

import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.paths import lead_python_here
from olmix.provenance.job import job_log

FILES = ("weights.safetensors", "run.json", "eval.json")


def train(options: Mapping[str, str | int | Path], log: Path) -> None:
    """Run the command to its end; it and what it prints go to the end of the log."""
    given = [str(part) for option in options.items() for part in option]
    command = [sys.executable, "-m", "olmix", "train", *given]
    lead_python_here()
    with log.open("a", encoding="utf-8") as file:
        file.write(shlex.join(command) + "\n")
        file.flush()
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise OlmixError(f"training ended with status {done.returncode}; finished runs are kept")


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
