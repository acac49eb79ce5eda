"""Propose the mix of every chain of a group at a stage: each stage's mix is the next one's p̃."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.chain import NATURAL, Chain
from olmix.study.system_updates import SystemAtStage
from olmix.study.update_chain import StageWork
from olmix.tables import write_table


def main(
    work: StageWork,
    chains: list[dict[str, Any]],
    out: Path,
    table: Path,
    system: SystemAtStage | None = None,
) -> None:
    """Write ``<chain>.json`` in ``out``, and all mixes with the natural one as a table.

    ``system`` answers where the method of the updates is none of seven choices.
    """
    natural = work.domains.natural()
    write_json(out / f"{NATURAL}.json", natural.to_dict())
    names, rows = [NATURAL], [natural.weights]
    for record in chains:
        chain = Chain(**record)
        proposal = system.propose(chain) if system else work.propose(chain)
        proposal.save(out / f"{chain.name}.json")
        names.append(chain.name)
        rows.append(proposal.mix.aligned(work.domains.names).weights)
        logging.info("%s: %s", chain.name, proposal.status)
    write_table(table, names, work.domains.names, np.array(rows))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        told = snakemake.params.method
        main(
            work=StageWork.from_job(snakemake),
            system=SystemAtStage.from_job(snakemake) if "system" in told else None,
            chains=snakemake.params.chains,
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
