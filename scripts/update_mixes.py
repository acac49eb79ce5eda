"""Propose the mix of every chain of a group at a stage: each stage's mix is the next one's p̃."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.chain import NATURAL, Chain
from olmix.study.side_by_side import side_by_side
from olmix.study.system_updates import SystemAtStage
from olmix.study.update_chain import StageWork
from olmix.tables import write_table


def main(
    work: StageWork,
    asked: list[dict[str, Any]],
    out: Path,
    table: Path,
    cores: int = 1,
    system: SystemAtStage | None = None,
) -> None:
    """Write ``<chain>.json`` in ``out``, and all mixes with the natural one as a table.

    ``asked`` are the chains.
    ``system`` answers where the method of the updates is none of seven choices.
    """
    chains, natural = [Chain(**record) for record in asked], work.domains.natural()
    write_json(out / f"{NATURAL}.json", natural.to_dict())
    names, rows = [NATURAL], [natural.weights]
    # Chains that have the same mix at this stage have it from the first of them.
    same = {chain: chain if system else work.same_mix(chain) for chain in chains}
    first = {key: chain for chain, key in reversed(same.items())}
    propose = system.propose if system else work.propose
    found = dict(zip(first, side_by_side(propose, [*first.values()], cores), strict=True))
    for chain in chains:
        proposal = found[same[chain]]
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
            asked=snakemake.params.chains,
            cores=snakemake.threads,
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
