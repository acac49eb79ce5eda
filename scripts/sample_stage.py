"""Sample what the chains of a group train at a stage, or the probe that is run before choosing."""

from pathlib import Path
from typing import Any

import numpy as np

from olmix.provenance.job import job_log
from olmix.study.chain import Chain
from olmix.study.update_chain import StageWork
from olmix.tables import write_table


def main(work: StageWork, chains: list[tuple[dict[str, Any], int]], seed: int, out: Path) -> None:
    """Write the mixes of all chains over the stage's domains; ``chains`` says how many each."""
    names, rows = [], []
    for number, (record, runs) in enumerate(chains):
        chain = Chain(**record)
        rows.append(work.of(chain).sample(runs, seed=1000 * seed + number))
        names += [chain.run_name(work.stage, seed, index) for index in range(runs)]
    write_table(out, names, work.domains.names, np.vstack(rows))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            work=StageWork.from_job(snakemake),
            chains=snakemake.params.chains,
            seed=snakemake.params.seed,
            out=Path(snakemake.output.mixes),
        )
