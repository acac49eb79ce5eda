"""List the runs of a swarm with all their settings, one file per job, before anything trains.

A run's folder is named by the hash of its settings, outside what the workflow deletes when a job
fails: finished runs survive, and a run that two swarms share is trained once.
"""

import os
from itertools import islice
from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.runs import data_seed_of, expanded_mixes, run_settings, stored_sizes, swarm_space
from olmix.study.spec import SwarmSpec, from_params, job_sizes
from olmix.tables import read_mixes


def main(
    data: Path,
    updates: Path,
    mixes: Path,
    swarm: dict[str, Any],
    space: dict[str, Any],
    model: dict[str, Any],
    store: Path,
    out: Path,
) -> None:
    """Write ``0.json``, ``1.json``, ... in ``out``: the runs of each job, by name."""
    spec = from_params(SwarmSpec, swarm)
    corpus = Corpus.open(data / "corpus")
    runs, names, weights = read_mixes(mixes)
    collapse = swarm_space(data, updates, space)
    domains, expanded = collapse.domains, expanded_mixes(names, weights, collapse)
    sizes = stored_sizes(data, corpus)
    rows = {run: index for index, run in enumerate(runs)}
    wanted = list(spec.proposals or runs)
    entries = {}
    for run in wanted:
        index = rows[run]
        settings = run_settings(
            expanded[index],
            domains,
            corpus,
            model,
            data_seed=data_seed_of(spec, index),
            evaluate_at=model.get("evaluate_at", ()) if run in spec.curve else (),
            sizes=sizes,
        )
        entries[run] = {
            "folder": os.path.relpath(store / settings.hash, out),
            "corpus": os.path.relpath(data / "corpus", out),
            "settings": settings.to_dict(),
        }
    waiting = iter(wanted)
    for shard, size in enumerate(job_sizes(len(wanted), model)):
        listed: dict[str, dict[str, Any]] = {}
        for name in islice(waiting, size):
            # Two names may stand for one run: the same mix, proposed twice.
            folder = str(entries[name]["folder"])
            entry = listed.setdefault(folder, {"names": [], **entries[name]})
            entry["names"].append(name)
        write_json(out / f"{shard}.json", list(listed.values()))


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
            store=Path(snakemake.params.store),
            out=Path(snakemake.output.runs),
        )
