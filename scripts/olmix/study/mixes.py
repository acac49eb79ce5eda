"""Sampling the mixes of a swarm, and collecting what its runs measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.proposal import read_mix
from olmix.study.space import open_space, stored_mix
from olmix.study.spec import MixesSpec
from olmix.swarm.designs import DESIGNS, designed_swarm, token_entropy
from olmix.swarm.sampling import Swarm, SwarmDistribution, SwarmReport, sample_swarm
from olmix.updates.collapse import Collapse
from olmix.updates.sequence import UpdateSequence

__all__ = ["collect_metrics", "domain_entropies", "sample_mixes"]

# Kind of the swarms over a stage's domains: weights of the sources, then ratios inside each, around
# the stage's prior.
TWO_LEVEL = "two_level"

# Kind of the swarms that train one mix again and again, with other data seeds.
FIXED = "fixed"

# A domain's entropy is that of its first so many tokens.
_ENTROPY_TOKENS = 2**20

# A proposal used as a Dirichlet prior may leave a domain without weight, and a Dirichlet cannot.
_FLOOR_SHARE = 0.01


def sample_mixes(
    spec: MixesSpec,
    sequence: UpdateSequence,
    *,
    prior: str | Path | None,
    distributions: Mapping[str, Mapping[str, Any]],
    caps: Mapping[str, Any],
    corpus: str | Path | None = None,
) -> Swarm:
    """The mixes of a `MixesSpec`, centred on a proposal's mix or on the natural distribution.

    ``corpus`` is read only where the mixes depend on the text itself: entropy-weighted ones.
    """
    space = open_space(spec.space, sequence)
    if spec.kind == TWO_LEVEL:
        sources = {domain.name: domain.source for domain in space.domains}
        return sample_swarm(
            space.collapse(sequence.prior(spec.space.stage)),
            spec.size,
            seed=spec.seed,
            distribution=SwarmDistribution("sparse", **distributions["updates"]),
            # What is frozen together is a source of its own.
            sources=[sources.get(name, name) for name in space.names],
        )
    natural = space.collapse(space.domains.natural())
    if spec.kind == FIXED:
        mix = natural if prior is None else space.collapse(read_mix(prior)).aligned(natural.names)
        coverage = dict(zip(mix.names, (spec.size * (mix.weights > 0)).tolist(), strict=True))
        mixes = np.tile(mix.weights, (spec.size, 1))
        return Swarm(mix.names, mixes, SwarmReport(spec.size, 1.0, coverage, 0))
    if spec.kind in DESIGNS:
        if spec.prior or spec.capped:
            raise OlmixError(f"mixes '{spec.name}': '{spec.kind}' takes neither prior nor caps")

        def entropies() -> list[float]:
            if corpus is None:
                raise OlmixError(f"mixes '{spec.name}': '{spec.kind}' needs the corpus")
            return domain_entropies(space, Corpus.open(corpus))

        return designed_swarm(spec.kind, natural, spec.size, seed=spec.seed, entropies=entropies)
    centre = natural
    if prior is not None:
        mix = space.collapse(read_mix(prior))
        blended = (1 - _FLOOR_SHARE) * mix.weights + _FLOOR_SHARE * natural.weights
        centre = Mix(natural.names, blended)
    settings = dict(distributions[spec.kind])
    if spec.strengths is not None:
        settings["strengths"] = spec.strengths
    limits = None
    if spec.capped:
        limits = space.request(kl=0.0, **caps).caps
    distribution = SwarmDistribution(spec.kind, **settings)
    return sample_swarm(
        centre,
        spec.size,
        seed=spec.seed,
        distribution=distribution,
        caps=limits,
        # Around a proposal that leaves domains out hardly a candidate has weight on all.
        lift=prior is not None,
    )


def domain_entropies(space: Collapse, corpus: Corpus) -> list[float]:
    """Entropy of the tokens (unigrams, in nats) of each domain of a space."""
    vocabulary, counts = corpus.tokenizer.vocab_size, corpus.token_counts
    entropies = []
    for row in np.eye(len(space.names)):
        parts = stored_mix(space.expand(Mix(space.names, row)), space.domains, counts)
        frequencies = np.zeros(vocabulary)
        for name, share in parts.items():
            tokens = corpus[name].read(0, min(counts[name], _ENTROPY_TOKENS))
            frequencies += share * np.bincount(tokens, minlength=vocabulary) / len(tokens)
        entropies.append(token_entropy(frequencies))
    return entropies


def collect_metrics(evaluations: Mapping[str, str | Path]) -> tuple[list[str], np.ndarray]:
    """Tasks, and a row of BPB per run, from the runs' ``eval.json`` files in order."""
    rows, tasks = [], None
    for run, path in evaluations.items():
        record = read_json(path)["tasks"]
        tasks = tasks or list(record)
        if list(record) != tasks:
            raise OlmixError(f"{path}: run '{run}' was scored on other tasks than the first run")
        rows.append([record[task] for task in tasks])
    if tasks is None:
        raise OlmixError("no evaluations to collect")
    return tasks, np.array(rows)
