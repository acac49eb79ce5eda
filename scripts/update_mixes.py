"""Propose the mix of every chain of a group at a stage: each stage's mix is the next one's p̃."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.files import read_json, write_json
from olmix.job import job_log
from olmix.study.update_chain import StageWork, split_from_record
from olmix.study.update_plan import Chain
from olmix.tables import SwarmTable, read_collected, write_table
from olmix.update_sequence import load_updates


def main(
    work: StageWork,
    chains: list[dict[str, Any]],
    tables: dict[str, SwarmTable],
    pools: dict[str, SwarmTable],
    probe: SwarmTable | None,
    choices: Path | None,
    out: Path,
    table: Path,
) -> None:
    """Write ``<chain>.json`` in ``out``, and all mixes with the natural one as a table."""
    chosen = read_json(choices) if choices else {}
    natural = work.domains.natural()
    write_json(out / "natural.json", natural.to_dict())
    names, rows = ["natural"], [natural.weights]
    for record in chains:
        chain = Chain(**record)
        choice = split_from_record(chosen[chain.name]) if chain.name in chosen else None
        proposal = work.propose(chain, tables, pools, probe, choice)
        proposal.save(out / f"{chain.name}.json")
        names.append(chain.name)
        rows.append(proposal.mix.aligned(work.domains.names).weights)
        logging.info("%s: %s", chain.name, proposal.status)
    write_table(table, names, work.domains.names, np.array(rows))


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        catalogue = DomainSet.load(Path(snakemake.input.data) / "domains.json")
        previous = snakemake.input.get("previous")
        stages = zip(snakemake.params.stages, snakemake.input.tables, strict=True)
        pools = zip(snakemake.params.pools, snakemake.input.pools, strict=True)
        main(
            work=StageWork(
                load_updates(snakemake.params.updates, catalogue),
                snakemake.params.stage,
                Path(previous) if previous else None,
                snakemake.params.request,
                {},
            ),
            chains=snakemake.params.chains,
            tables={stage: read_collected(path) for stage, path in stages},
            pools={stage: read_collected(path) for stage, path in pools},
            probe=read_collected(snakemake.input.probe) if snakemake.input.get("probe") else None,
            choices=Path(snakemake.input.choices) if snakemake.input.get("choices") else None,
            out=Path(snakemake.output.proposals),
            table=Path(snakemake.output.mixes),
        )
