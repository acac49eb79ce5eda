"""RQ5, RQ6 and RQ7 on the released DCLM swarm, and the proposal's sensitivity to the KL term."""

from pathlib import Path
from typing import Any

import pandas as pd

from olmix.files import write_csv, write_json
from olmix.presentation.proposal_report import write_sweep_csv
from olmix.provenance.job import job_log
from olmix.published.catalogue import Catalogue, ReleasedSwarm
from olmix.published.comparison import Findings
from olmix.published.design import (
    design_findings,
    request_of,
    solver_proposals,
    sweep,
    weights_by_factor,
)
from olmix.published.regression import fit_by_granularity, granularity_findings
from olmix.study.proposals import olmix_base


def main(swarms: Path, settings: dict[str, Any], out: Path) -> None:
    """Write ``granularity.csv`` and ``findings.json``, and with the swarm what needs a law."""
    swarm = Catalogue.load(swarms).get(settings["design"]["swarm"])
    fits = fit_by_granularity(swarm, settings["granularity"])
    write_csv(out / "granularity.csv", fits)
    weights, solvers = (None, None) if swarm is None else _propose(swarm, settings, out)
    parts = [granularity_findings(fits), design_findings(weights, solvers)]
    joined = Findings.joined([part.to_dict() for part in parts])
    write_json(out / "findings.json", joined.to_dict())


def _propose(
    swarm: ReleasedSwarm, settings: dict[str, Any], out: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Fit once, then propose for every k, every solver and every weight of the KL term."""
    surrogate = olmix_base().fit(swarm.table)
    surrogate.save(out / "model.json")
    request = request_of(swarm, settings["design"])
    weights = weights_by_factor(surrogate, swarm, request, settings["factors"])
    found = solver_proposals(surrogate, request, settings["solvers"])
    solvers = pd.DataFrame(
        [[name, made.average, made.status] for name, made in found.items()],
        columns=["solver", "predicted_bpb", "status"],
    )
    for name, frame in (("weights", weights), ("solvers", solvers)):
        write_csv(out / f"{name}.csv", frame)
    write_sweep_csv(out / "kl_sweep.csv", sweep(surrogate, swarm, request))
    return weights, solvers


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            swarms=Path(snakemake.input.swarms),
            settings=snakemake.params.settings,
            out=Path(snakemake.output.answer),
        )
