"""From mixes to runs: everything that decides a run, from its mix and the scale's model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from olmix.corpus.store import Corpus
from olmix.cost.compute import run_size
from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.model.shapes import is_tiny, shape
from olmix.study.space import open_space, stored_mix
from olmix.study.spec import SpaceSpec, SwarmSpec, from_params
from olmix.training.presets import preset
from olmix.training.settings import RunSettings, SteeringSettings, data_fingerprint
from olmix.updates.collapse import Collapse
from olmix.updates.sequence import load_updates

__all__ = ["data_seed_of", "expanded_mixes", "run_settings", "stored_sizes", "swarm_space"]


def expanded_mixes(names: Sequence[str], mixes: np.ndarray, space: Collapse) -> list[Mix]:
    """Rows of a mixes table as mixes over single domains."""
    return [space.expand(Mix(tuple(names), row)) for row in mixes]


def swarm_space(data: Path, updates: Path, space: Mapping[str, Any]) -> Collapse:
    """The space of a swarm's mixes, over the domains that were counted in ``data``."""
    sequence = load_updates(updates, DomainSet.load(data / "domains.json"))
    return open_space(from_params(SpaceSpec, space), sequence)


def stored_sizes(data: Path, corpus: Corpus) -> dict[str, int]:
    """N of each stored domain: as declared where it is, else what was tokenised."""
    declared = DomainSet.load(data / "domains.json")
    return {
        name: declared[name].tokens if name in declared else tokens
        for name, tokens in corpus.token_counts.items()
    }


def run_settings(
    mix: Mix,
    domains: DomainSet,
    corpus: Corpus,
    model: Mapping[str, Any],
    *,
    data_seed: int,
    evaluate_at: Sequence[float] = (),
    sizes: Mapping[str, int] | None = None,
    steering: SteeringSettings | None = None,
) -> RunSettings:
    """Everything about one run: the model's preset, as the scale overrides it, and its mix.

    ``sizes`` are the tokens by which a source is spread over its topics (`stored_sizes`), those in
    the corpus if none are given. ``model`` may also say which share of each domain is there to be
    read (``data_share``).
    """
    base = preset(model["shape"])
    vocabulary = corpus.tokenizer.vocab_size if is_tiny(model["shape"]) else None
    size = run_size(model)
    weights = stored_mix(mix, domains, sizes or corpus.token_counts)
    return RunSettings(
        model=shape(model["shape"], vocabulary),
        mix=weights,
        tokens=size.tokens,
        sequence_length=size.sequence_length,
        batch_size=size.batch_size,
        learning_rate=model.get("learning_rate", base.learning_rate),
        corpus=data_fingerprint(corpus, weights),
        tokenizer=corpus.tokenizer.sha256,
        init=base.init,
        warmup_steps=base.warmup_steps(size.steps),
        data_seed=data_seed,
        max_repetition=model["max_repetition"],
        linear_decay=base.linear_decay,
        evaluate_at=tuple(evaluate_at),
        data_share=model.get("data_share", 1.0),
        steering=steering,
    )


def data_seed_of(swarm: SwarmSpec, index: int) -> int:
    """The seed of a run's data order.

    Sampled mixes each have their own. Proposals all have the same one: they are compared with each
    other, and a mix that two questions propose is then trained once.
    """
    return swarm.seed if swarm.proposals else 100_000 * swarm.seed + index
