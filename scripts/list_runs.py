"""List the runs of a swarm with all their settings, one file per job, before anything trains.

A run's folder is named by the hash of its settings, outside what the workflow deletes when a job
fails: finished runs survive, and a run that two swarms share is trained once.
"""

import os
from itertools import islice
from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.files import read_json, write_json
from olmix.provenance.job import job_log
from olmix.study.runs import data_seed_of, expanded_mixes, run_settings, stored_sizes, swarm_space
from olmix.study.spec import SwarmSpec, from_params, job_sizes
from olmix.study.steered_runs import steering_of
from olmix.tables import read_mixes

LEARNS_FROM = ("reference", "graph", "asked")


def main(
    data: Path,
    updates: Path,
    mixes: Path,
    swarm: dict[str, Any],
    space: dict[str, Any],
    model: dict[str, Any],
    store: Path,
    out: Path,
    reference: Path | None = None,
    graph: Path | None = None,
    asked: Path | None = None,
) -> None:
    """Write ``0.json``, ``1.json``, ... in ``out``: the runs of each job, by name.

    A swarm that a system trains may need the ``reference`` run, the ``graph`` of the domains, or
    what its round ``asked``: which model each run trains.
    """
    spec = from_params(SwarmSpec, swarm)
    corpus = Corpus.open(data / "corpus")
    runs, names, weights = read_mixes(mixes, may_be_empty=asked is not None)
    cheaper = model.get("models", {})
    chosen = read_json(asked)["models"] if asked else {}
    steering, compared = steering_of(model.get("steering"), reference, graph)
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
            cheaper.get(chosen.get(run), model),
            data_seed=data_seed_of(spec, index),
            evaluate_at=model.get("evaluate_at", ()) if run in spec.curve else (),
            sizes=sizes,
            steering=steering,
        )
        entries[run] = {
            "folder": os.path.relpath(store / settings.hash, out),
            "corpus": os.path.relpath(data / "corpus", out),
            "settings": settings.to_dict(),
        }
        if compared is not None:
            entries[run]["reference"] = os.path.relpath(compared, out)
    waiting = iter(wanted)
    # As many jobs as are planned, even if a round asks for fewer runs than it may.
    for shard, size in enumerate(job_sizes(spec.size, model)):
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
        files = snakemake.input
        main(
            data=Path(snakemake.input.data),
            updates=Path(snakemake.params.updates),
            mixes=Path(snakemake.input.mixes),
            swarm=snakemake.params.swarm,
            space=snakemake.params.space,
            model=snakemake.params.model,
            store=Path(snakemake.params.store),
            out=Path(snakemake.output.runs),
            **{key: Path(files[key]) for key in LEARNS_FROM if key in files.keys()},  # noqa: SIM118
        )
