"""Measure a model of the scale with the nodes, GPUs and processes that its training will have."""

import shutil
import uuid
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.provenance.job import job_log, run_command


def measure(options: dict[str, Any], log: Path) -> None:
    """Measure with `python -m olmix preflight`, in as many processes as the job was given."""
    status = run_command("preflight", options, log)
    if status != 0:
        raise OlmixError(f"measuring ended with status {status}; {log} says why")


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
