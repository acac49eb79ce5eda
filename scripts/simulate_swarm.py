"""Simulate a swarm: a law plus noise in place of training and evaluating its runs."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from olmix.provenance.job import job_log
from olmix.simulation.runs import SimulatedWorld
from olmix.study.runs import data_seed_of, expanded_mixes, swarm_space
from olmix.study.space import stored_mix
from olmix.study.spec import SwarmSpec, from_params
from olmix.tables import read_mixes, write_table


def main(
    data: Path,
    updates: Path,
    mixes: Path,
    swarm: dict[str, Any],
    space: dict[str, Any],
    model: dict[str, Any],
    ratios: Path,
    metrics: Path,
) -> None:
    """Write the tables that `collect_swarm` writes; runs keep the order of the mixes."""
    spec = from_params(SwarmSpec, swarm)
    world = SimulatedWorld.open(data)
    collapse = swarm_space(data, updates, space)
    runs, names, weights = read_mixes(mixes, may_be_empty=True)
    expanded = expanded_mixes(names, weights, collapse)
    wanted = set(spec.proposals or runs)
    rows = [index for index, run in enumerate(runs) if run in wanted]
    measured = [
        world.run(
            stored_mix(expanded[index], collapse.domains, world.tokens),
            model=spec.model,
            noise=model["noise"],
            seed=data_seed_of(spec, index),
            disturbance=model.get("disturbance", 0.0),
        )
        for index in rows
    ]
    simulated = [runs[index] for index in rows]
    write_table(ratios, simulated, names, weights[rows])
    table = np.array(measured).reshape(len(rows), len(world.law.tasks) if rows else 0)
    write_table(metrics, simulated, world.law.tasks if rows else [], table)
    logging.info("%d runs simulated, none trained", len(rows))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            mixes=Path(snakemake.input.mixes),
            swarm=snakemake.params.swarm,
            space=snakemake.params.space,
            model=snakemake.params.model,
            ratios=Path(snakemake.output.ratios),
            metrics=Path(snakemake.output.metrics),
        )
