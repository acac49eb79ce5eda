"""Measure a model of the scale with the nodes, GPUs and processes that its training will have."""

import logging
import shlex
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.paths import lead_python_here
from olmix.provenance.job import job_log


def measure(options: dict[str, Any], log: Path) -> None:
    """Run `python -m olmix measure` to its end; what it prints goes to the end of the log."""
    given = [str(part) for option in options.items() for part in option]
    command = [sys.executable, "-m", "olmix", "measure", *given]
    lead_python_here()
    logging.info("starting %s", shlex.join(command))
    with log.open("a", encoding="utf-8") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise OlmixError(f"measuring ended with status {done.returncode}; {log} says why")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        out, granted = Path(snakemake.output.measured), snakemake.resources
        work = out.parent / f".{out.stem}-{uuid.uuid4().hex[:12]}"
        write_json(work / "asked.json", snakemake.params.asked)
        options = {
            "--asked": work / "asked.json",
            "--work": work,
            "--out": out,
            "--nodes": granted.nodes,
            "--processes": granted.processes,
            "--cpus": snakemake.threads,
        }
        prepared = Path(snakemake.params.data)
        if (prepared / "corpus").is_dir():
            options["--data"] = prepared
        try:
            measure(options, Path(snakemake.log[0]))
        finally:
            shutil.rmtree(work, ignore_errors=True)
