"""Sample what the chains of a group train at a stage, or the probe that auto reuse needs first."""

from pathlib import Path

import numpy as np

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.job import job_log
from olmix.study.update_chain import StageWork, split_from_record
from olmix.study.update_plan import Chain
from olmix.tables import write_table
from olmix.update_sequence import load_updates


def main(
    work: StageWork, chains: dict[str, int], choices: Path | None, seed: int, out: Path
) -> None:
    """Write the mixes of all chains over the stage's domains; ``chains`` says how many each."""
    chosen = read_json(choices) if choices else {}
    names, rows = [], []
    for number, (record, runs) in enumerate(chains):
        chain = Chain(**record)
        choice = split_from_record(chosen[chain.name]) if chain.name in chosen else None
        mixes = work.sample(chain, runs, choice, seed=1000 * seed + number)
        names += [f"{chain.name}-{work.stage}-{seed}-{index:04d}" for index in range(runs)]
        rows.append(mixes)
    write_table(out, names, work.domains.names, np.vstack(rows))


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        catalogue = DomainSet.load(Path(snakemake.input.data) / "domains.json")
        main(
            work=StageWork(
                load_updates(snakemake.params.updates, catalogue),
                snakemake.params.stage,
                Path(snakemake.input.previous),
                {},
                snakemake.params.distribution,
            ),
            chains=snakemake.params.chains,
            choices=Path(snakemake.input.choices) if snakemake.input.get("choices") else None,
            seed=snakemake.params.seed,
            out=Path(snakemake.output.mixes),
        )
