"""Write the paper's descriptive tables, for the paper's own setting and the scale in use."""

from pathlib import Path
from typing import Any

import pandas as pd

from olmix.domains import DomainSet
from olmix.files import replacing
from olmix.provenance.job import job_log
from olmix.questions.tables.answer import (
    COSTS,
    cost_table,
    design_choices,
    domain_sizes,
    domain_updates,
    eval_suite,
    load_sequences,
    model_architectures,
)


def main(
    updates: dict[str, str],
    catalogues: dict[str, str],
    models: dict[str, Any],
    tasks: Path,
    choices: Path,
    out: Path,
) -> None:
    """Write every table as ``<name>.csv`` in ``out``."""
    sequences = load_sequences(updates)
    tables: dict[str, pd.DataFrame] = {
        "domain_updates": domain_updates(sequences),
        "domain_sizes": domain_sizes({s: DomainSet.load(p) for s, p in catalogues.items()}),
        "eval_suite": eval_suite(tasks),
        "model_architectures": model_architectures(models),
        "design_choices": design_choices(choices),
    }
    tables |= {name: cost_table(sequences, strategy) for name, strategy in COSTS.items()}
    for name, frame in tables.items():
        with replacing(out / f"{name}.csv") as temporary:
            frame.to_csv(temporary, index=False)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            updates=snakemake.params.updates,
            catalogues=dict(snakemake.params.catalogues)
            | {snakemake.params.scale: f"{snakemake.input.data}/domains.json"},
            models=snakemake.params.models,
            tasks=Path(snakemake.input.tasks),
            choices=Path(snakemake.input.choices),
            out=Path(snakemake.output.tables),
        )
