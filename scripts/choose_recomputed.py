"""Choose what to recompute at a stage, from the probe and the old runs (auto partial reuse)."""

import logging
from pathlib import Path
from typing import Any

from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.chain import Chain
from olmix.study.side_by_side import side_by_side
from olmix.study.update_chain import StageWork
from olmix.updates.auto_reuse import AutoChoice


def main(
    work: StageWork, asked: list[tuple[dict[str, Any], int]], out: Path, cores: int = 1
) -> None:
    """Write the choice of every chain with its reasons; ``asked`` are chains with their budgets."""
    chains = [(Chain(**record), budget) for record, budget in asked]

    def choose(one: tuple[Chain, int]) -> AutoChoice:
        chain, budget = one
        return work.of(chain).choose(budget)

    choices = {}
    for (chain, _), choice in zip(chains, side_by_side(choose, chains, cores), strict=True):
        choices[chain.name] = choice.to_dict()
        for line in choice.explain():
            logging.info("%s: %s", chain.name, line)
    write_json(out, choices)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            work=StageWork.from_job(snakemake),
            asked=snakemake.params.chains,
            cores=snakemake.threads,
            out=Path(snakemake.output.choices),
        )
