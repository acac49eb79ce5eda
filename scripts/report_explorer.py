"""Write the report's explorer: OlmixBase's model of the main swarm, to be moved by hand."""

import logging
import math
from pathlib import Path
from typing import Any

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.presentation.explorer.content import MOST_REPLICATES, Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.proposers.proposal import Request
from olmix.proposers.uncertainty import refitted
from olmix.provenance.job import job_log
from olmix.regressors.surrogate import Surrogate
from olmix.study.space import stage_domains
from olmix.study.spec import ProposalSpec
from olmix.tables import read_swarm
from olmix.updates.sequence import INITIAL, load_updates


def main(
    data: Path,
    updates: Path,
    model: Path,
    ratios: Path,
    metrics: Path,
    proposal: dict[str, Any],
    requested: float,
    scale: str,
    out: Path,
) -> None:
    """Write ``out`` (.html) from a model over the initial domains and the runs it was fitted on."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    domains = stage_domains(sequence, INITIAL)
    spec = ProposalSpec(**proposal)
    repetition = math.inf if spec.repetition is None else spec.repetition
    table = read_swarm(ratios, metrics)
    surrogate, families = Surrogate.load(model), read_json(data / "families.json")
    models = refitted(table, surrogate, families=families, replicates=MOST_REPLICATES)
    exploration = Exploration(
        surrogate,
        Request.for_domains(domains, kl=spec.kl, repetition=repetition, requested=requested),
        domains.natural(),
        domains,
        families,
        tuple(models),
        title=f"The mix of {scale}",
        made_from={"scale": scale, "swarm": spec.swarm, "runs": len(table)},
    )
    write_explorer(out, exploration)
    logging.info("%d replicates over %d domains", MOST_REPLICATES, len(domains))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            model=Path(snakemake.input.models) / f"{snakemake.params.proposal['name']}.json",
            ratios=Path(snakemake.input.ratios),
            metrics=Path(snakemake.input.metrics),
            proposal=snakemake.params.proposal,
            requested=snakemake.params.requested,
            scale=snakemake.params.scale,
            out=Path(snakemake.output.page),
        )
