"""The data of a run: the sequences its settings ask for, from the corpus they were made for."""

import numpy as np

from olmix.corpus.mixing import MixedData
from olmix.corpus.store import Corpus
from olmix.errors import OlmixError
from olmix.systems.kinds.steering import MovingMix, MovingWeights, make_steering
from olmix.training.settings import RunSettings, data_fingerprint

__all__ = ["check_corpus", "run_data", "run_steering"]


def run_steering(settings: RunSettings) -> MovingMix | MovingWeights | None:
    """The algorithm that moves a run's mix or weights, at its beginning; None if there is none."""
    if settings.steering is None:
        return None
    mix = np.array([settings.mix[domain] for domain in sorted(settings.mix)])
    steering = settings.steering
    return make_steering(steering.algorithm, steering.settings, mix, settings.steps)


def run_data(settings: RunSettings, corpus: Corpus) -> MixedData:
    """The sequences that a run reads, through every change of its mix that is known before."""
    per_step = settings.sequence_length * settings.batch_size
    every = dict.fromkeys(sorted({name for mix in settings.mixes for name in mix}), 0.0)
    ends = [step * per_step for step in settings.changes] + [settings.tokens]
    algorithm = run_steering(settings)
    if isinstance(algorithm, MovingMix):
        ends = [algorithm.ends[0] * per_step]
    data = MixedData(
        corpus,
        every | settings.mix,
        tokens=settings.tokens,
        sequence_length=settings.sequence_length,
        seed=settings.data_seed,
        max_repetition=settings.max_repetition,
        share=settings.data_share,
        until=ends[0],
    )
    for change, end in zip(settings.schedule, ends[1:], strict=True):
        data.extend(change.mix, end)
    return data


def check_corpus(settings: RunSettings, corpus: Corpus) -> None:
    """Refuse a corpus that the settings were not made for or the model cannot read."""
    tokenizer = corpus.tokenizer
    if tokenizer.sha256 != settings.tokenizer:
        raise OlmixError(
            f"{corpus.root}: tokenised by {tokenizer.sha256[:12]}, but the run's settings expect "
            f"the tokenizer {settings.tokenizer[:12]}"
        )
    if tokenizer.vocab_size > settings.model.vocab_size:
        raise OlmixError(
            f"{corpus.root}: its vocabulary of {tokenizer.vocab_size} does not fit shape "
            f"{settings.model.name!r}, which has {settings.model.vocab_size}"
        )
    if (fingerprint := data_fingerprint(corpus, *settings.mixes)) != settings.corpus:
        raise OlmixError(
            f"{corpus.root}: its tokens (fingerprint {fingerprint}) are not those the run's "
            f"settings were made for ({settings.corpus})"
        )
