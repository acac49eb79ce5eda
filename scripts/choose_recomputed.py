"""Auto partial reuse: choose what to recompute at a stage, from the probe and the old runs."""

import logging
from pathlib import Path
from typing import Any

from olmix.domains import DomainSet
from olmix.files import write_json
from olmix.job import job_log
from olmix.study.update_chain import StageWork, split_record
from olmix.study.update_plan import Chain
from olmix.tables import SwarmTable, read_collected
from olmix.update_sequence import INITIAL, load_updates


def main(
    work: StageWork,
    chains: list[tuple[dict[str, Any], int]],
    probe: SwarmTable,
    tables: dict[str, SwarmTable],
    pools: dict[str, SwarmTable],
    out: Path,
) -> None:
    """Write the choice of every chain with its reasons; ``chains`` come with their budgets."""
    choices = {}
    for record, budget in chains:
        chain = Chain(**record)
        old = work.accumulated(chain, tables, pools)
        choice = work.choose(chain, probe, old.select_tasks(probe.tasks), budget)
        choices[chain.name] = split_record(choice)
        for line in choice.explain():
            logging.info("%s: %s", chain.name, line)
    write_json(out, choices)


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        catalogue = DomainSet.load(Path(snakemake.input.data) / "domains.json")
        stages = zip(snakemake.params.stages, snakemake.input.tables, strict=True)
        main(
            work=StageWork(
                load_updates(snakemake.params.updates, catalogue),
                snakemake.params.stage,
                Path(snakemake.input.previous),
                {},
                {},
            ),
            chains=snakemake.params.chains,
            probe=read_collected(snakemake.input.probe),
            tables={stage: read_collected(path) for stage, path in stages},
            pools={INITIAL: read_collected(snakemake.input.pool)},
            out=Path(snakemake.output.choices),
        )
