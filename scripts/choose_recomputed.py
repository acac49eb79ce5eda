"""Choose what to recompute at a stage, from the probe and the old runs (auto partial reuse)."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.chain import Chain
from olmix.study.update_chain import StageWork


def main(work: StageWork, chains: list[tuple[dict[str, Any], int]], out: Path) -> None:
    """Write the choice of every chain with its reasons; ``chains`` come with their budgets."""
    choices = {}
    for record, budget in chains:
        chain = Chain(**record)
        choice = work.of(chain).choose(budget)
        choices[chain.name] = choice.to_dict()
        for line in choice.explain():
            logging.info("%s: %s", chain.name, line)
    write_json(out, choices)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            work=StageWork.from_job(snakemake),
            chains=snakemake.params.chains,
            out=Path(snakemake.output.choices),
        )
