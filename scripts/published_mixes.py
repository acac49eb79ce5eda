"""The mix each released swarm proposes, the reuse chain, and the coupling, beside the paper's."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.files import write_csv, write_json
from olmix.paths import REPOSITORY
from olmix.provenance.job import job_log
from olmix.published.catalogue import Catalogue
from olmix.published.final import FinalMixes, final_mixes
from olmix.published.mixes import read_paper_mixes
from olmix.updates.sequence import load_updates


def main(swarms: Path, settings: dict[str, Any], out: Path) -> None:
    """Write ``<swarm>/mix.json`` and ``coefficients.csv``, and the tables over all swarms."""
    sequence = load_updates(REPOSITORY / settings["updates"])
    paper = read_paper_mixes(REPOSITORY / settings["mixes"])
    result = final_mixes(Catalogue.load(swarms), settings, sequence, paper)
    _write(result, out)
    if result.chain.stopped:
        logging.info("the chain stops before %s", result.chain.stopped)


def _write(result: FinalMixes, out: Path) -> None:
    for name, made in result.estimates.items():
        made.proposal.save(out / name / "mix.json")
        if made.surrogate is not None:
            law = made.surrogate
            coefficients = pd.DataFrame(
                law.regressor.coef_, index=law.outputs, columns=law.domains
            ).rename_axis("task")
            write_csv(out / name / "coefficients.csv", coefficients.reset_index())
    for stage, proposal in result.chain.proposals.items():
        proposal.save(out / "chain" / f"{stage}.json")
    write_json(
        out / "chain.json",
        {"stages": list(result.chain.proposals), "stops_before": result.chain.stopped},
    )
    write_csv(out / "swarms.csv", pd.DataFrame(result.swarms))
    columns = ["comparison", "domain", "ours", "low", "high", "paper", "difference", "inside"]
    mixes = pd.concat(result.compared) if result.compared else pd.DataFrame(columns=columns)
    write_csv(out / "mixes.csv", mixes)
    if result.kappa is not None:
        write_csv(out / "kappa.csv", result.kappa)
    write_json(out / "findings.json", result.findings.to_dict())


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            swarms=Path(snakemake.input.swarms),
            settings=snakemake.params.settings,
            out=Path(snakemake.output.answer),
        )
