"""Score the runs of a job on every task of the suite: one JSON per run.

Training scores a run as soon as it is finished, while its model is at hand; such a score is taken
over if it is of these weights and this suite. Any other run is scored here.
"""

import logging
from pathlib import Path
from typing import Any

from olmix.evaluation.suite import Suite
from olmix.files import read_json, write_json
from olmix.provenance.job import job_log
from olmix.training.gpus import own_gpus


def main(
    data: Path, runs: Path, batch_tokens: int, max_instances: int | None, threads: int, out: Path
) -> None:
    """Write ``<run>.json`` in ``out`` for every folder in ``runs``."""
    suite = Suite.open(data / "suite")
    folders = sorted(folder for folder in runs.iterdir() if folder.is_dir())
    out.mkdir(parents=True, exist_ok=True)
    missing = []
    for folder in folders:
        score = score_of(folder, suite, max_instances)
        if score is None:
            missing.append(folder)
        else:
            write_json(out / f"{folder.name}.json", score)
    logging.info(
        "%d of %d runs were scored after training", len(folders) - len(missing), len(folders)
    )
    if missing:
        evaluate_runs(
            missing, suite, data / "tokenizer.json", batch_tokens, max_instances, threads, out
        )


def score_of(folder: Path, suite: Suite, max_instances: int | None) -> dict[str, Any] | None:
    """The score that training left, if it is of this run and this suite."""
    path = folder / "eval.json"
    if not path.is_file():
        return None
    score = read_json(path)
    of_this = (
        score.get("run") == read_json(folder / "run.json")["hash"]
        and score.get("suite") == {"name": suite.name, "hash": suite.hash}
        and score.get("subsampled") == max_instances
    )
    return score if of_this else None


def evaluate_runs(
    folders: list[Path],
    suite: Suite,
    tokenizer: Path,
    batch_tokens: int,
    max_instances: int | None,
    threads: int,
    out: Path,
) -> None:
    """Load each model and score it, on a GPU if there is one."""
    import torch

    from olmix.evaluation.runs import evaluate_run
    from olmix.evaluation.tokens import TokenisedSuite

    torch.set_num_threads(threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenised = TokenisedSuite(suite, tokenizer)
    for number, folder in enumerate(folders, start=1):
        result = evaluate_run(
            folder, tokenised, device=device, batch_tokens=batch_tokens, max_instances=max_instances
        )
        write_json(out / f"{folder.name}.json", result)
        logging.info("%d of %d runs scored, last %.4f", number, len(folders), result["average"])


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]), own_gpus(snakemake.resources.processes):
        main(
            data=Path(snakemake.input.data),
            runs=Path(snakemake.input.runs),
            batch_tokens=snakemake.params.batch_tokens,
            max_instances=snakemake.params.max_instances,
            threads=snakemake.threads,
            out=Path(snakemake.output.evaluations),
        )
