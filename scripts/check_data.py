"""Check the data of a scale against all that will be asked of them, before anything trains."""

import logging
from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.domains import DomainSet
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.data_checks import check_caps_at_stages, check_sample, check_versions
from olmix.updates.sequence import load_updates


def main(
    data: Path,
    updates: list[str],
    models: dict[str, Any],
    requested: dict[str, float],
    repetition: float,
    out: Path,
) -> None:
    """Write how often a run of each model may read the same tokens, or refuse the data."""
    declared = DomainSet.load(data / "domains.json")
    stored = Corpus.open(data / "corpus").token_counts
    for file in updates:
        sequence = load_updates(file, declared)
        check_caps_at_stages(sequence, repetition, requested)
        check_versions(sequence, stored)
    repeated = check_sample(declared, stored, models, repetition, requested)
    for model, times in repeated.items():
        logging.info("%s: a run reads no domain more than %.3g times", model, times)
    write_json(out, {"stored_tokens": sum(stored.values()), "largest_repetition": repeated})


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            data=Path(snakemake.input.data),
            updates=snakemake.params.updates,
            models=snakemake.params.models,
            requested=snakemake.params.requested,
            repetition=snakemake.params.repetition,
            out=Path(snakemake.output.checked),
        )
