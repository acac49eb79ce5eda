"""Runs that an algorithm steers: what they need of runs before them, and what they answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from olmix.corpus.store import Corpus
from olmix.corpus.stretch import DomainStream
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.study.space import stored_mix
from olmix.systems.skill_it import skill_graph
from olmix.training.settings import RunSettings, SteeringSettings

__all__ = ["measure_graph", "run_folders", "steering_of", "unstored"]

# Sequences of each domain that a graph is measured on.
_SEQUENCES = 32


def steering_of(
    steering: Mapping[str, Any] | None, reference: Path | None, graph: Path | None
) -> tuple[SteeringSettings | None, Path | None]:
    """What steers a swarm's runs, and the folder of the run they compare themselves with.

    ``reference`` is the folder of a job that trained one run, ``graph`` a file of `measure_graph`.
    """
    if steering is None:
        return None, None
    settings = dict(steering["settings"])
    if graph is not None:
        settings["graph"] = read_json(graph)["graph"]
    if reference is None:
        return SteeringSettings(steering["algorithm"], settings), None
    (run,) = run_folders([reference])
    compared = read_json(run / "run.json")["hash"]
    return SteeringSettings(steering["algorithm"], settings, compared), run


def run_folders(jobs: Sequence[Path]) -> list[Path]:
    """The folders of the runs that some jobs trained, in the order of their names."""
    return [folder for job in jobs for folder in sorted(job.iterdir()) if folder.is_dir()]


def measure_graph(runs: Sequence[Path], corpus: Corpus) -> dict[str, Any]:
    """How much of every domain's loss a run on one domain alone takes away (`skill_graph`).

    Rows and columns are the stored domains by name, which is a steered run's own order.
    """
    from olmix.model.transformer import Transformer
    from olmix.model.weights import load_model
    from olmix.training.domain_losses import model_losses

    settings = [RunSettings.from_dict(read_json(run / "run.json")["settings"]) for run in runs]
    single = {next(iter(found.mix)): run for found, run in zip(settings, runs, strict=True)}
    if len(single) < len(runs) or any(len(found.mix) > 1 for found in settings):
        raise OlmixError(f"{runs[0].parent}: expected one run on each domain alone")
    names, first = sorted(single), settings[0]
    streams = [DomainStream(corpus[name], first.sequence_length, seed=0) for name in names]
    untrained = Transformer(first.model, init=first.init)
    before = model_losses(untrained, streams, sequences=_SEQUENCES)
    after = [
        model_losses(
            load_model(single[name] / "weights.safetensors"), streams, sequences=_SEQUENCES
        )
        for name in names
    ]
    return {"domains": names, "graph": skill_graph(before, np.array(after)).tolist()}


def unstored(weights: Mapping[str, float], domains: DomainSet, tokens: Mapping[str, int]) -> Mix:
    """A mix over what a corpus stores as one over domains: `stored_mix` the other way."""
    found = []
    for name in domains.names:
        alone = Mix.from_dict({other: float(other == name) for other in domains.names})
        found.append(sum(weights.get(part, 0.0) for part in stored_mix(alone, domains, tokens)))
    total = np.array(found)
    return Mix(domains.names, total / total.sum())
