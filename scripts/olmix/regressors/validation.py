"""Regression fit: how well a surrogate predicts runs it has not seen (§3.3, RQ4)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from olmix.errors import OlmixError
from olmix.proposers.method import Method
from olmix.regressors.correlation import spearman_by_output
from olmix.regressors.cross_validation import held_out_folds
from olmix.regressors.surrogate import Surrogate, outputs_of, pearson_by_output
from olmix.tables import SwarmTable

__all__ = ["HeldOut", "covered", "score", "unseen_errors", "validate"]


@dataclass(frozen=True)
class HeldOut:
    """A surrogate, the runs it was fitted on, the runs it was not, and its correlations there.

    The test runs may be of another swarm, and may have been scored on some of the tasks only.
    """

    surrogate: Surrogate
    train: SwarmTable
    test: SwarmTable
    outputs: tuple[str, ...]  # those that the test runs have
    by_output: np.ndarray  # Pearson correlation of each output over the test runs
    average: float  # Pearson correlation of the average BPB
    ranks: np.ndarray  # Spearman correlation of each output
    average_ranks: float  # Spearman correlation of the average BPB

    @property
    def mean(self) -> float:
        """The paper's regression fit: the mean over outputs."""
        return float(self.by_output.mean())


def score(
    surrogate: Surrogate,
    train: SwarmTable,
    test: SwarmTable,
    families: Mapping[str, list[str]] | None = None,
) -> HeldOut:
    """Correlate predictions with what the test runs measured."""
    if len(test) < 2:
        raise OlmixError(f"scoring needs 2 or more runs, got {len(test)}: one has no correlation")
    outputs, weights, measured = outputs_of(test, surrogate.granularity, families or {})
    places = [surrogate.outputs.index(name) for name in outputs]
    predicted = surrogate.predict(test.mixes)[:, places]
    averages = (predicted @ weights)[:, None], (measured @ weights)[:, None]
    return HeldOut(
        surrogate,
        train,
        test,
        outputs,
        by_output=pearson_by_output(predicted, measured),
        average=float(pearson_by_output(*averages)[0]),
        ranks=spearman_by_output(predicted, measured),
        average_ranks=float(spearman_by_output(*averages)[0]),
    )


def unseen_errors(
    surrogate: Surrogate, swarm: SwarmTable, families: Mapping[str, list[str]] | None = None
) -> np.ndarray:
    """How far each run's average is from what a refit without it predicts: (runs,).

    Their quantiles around a prediction are its interval.
    """
    _, weights, measured = outputs_of(swarm, surrogate.granularity, families or {})
    folds = held_out_folds(swarm.mixes)
    models = surrogate.regressor.refit(swarm.mixes, measured, (~folds).astype(float))
    errors = np.empty(len(swarm))
    for unseen, model in zip(folds, models, strict=True):
        errors[unseen] = (measured[unseen] - model.predict(swarm.mixes[unseen])) @ weights
    return errors


def covered(
    held_out: HeldOut, level: float, families: Mapping[str, list[str]] | None = None
) -> np.ndarray:
    """Whether the average of each test run is inside its interval, known without these runs."""
    tail = (1 - level) / 2
    errors = unseen_errors(held_out.surrogate, held_out.train, families)
    # The next error is as likely in each of the n + 1 gaps between n of them: few errors make
    # other quantiles too narrow.
    low, high = np.quantile(errors, [tail, 1 - tail], method="weibull")
    _, weights, measured = outputs_of(held_out.test, held_out.surrogate.granularity, families or {})
    away = measured @ weights - held_out.surrogate.predict(held_out.test.mixes) @ weights
    return (low <= away) & (away <= high)


def validate(
    method: Method,
    swarm: SwarmTable,
    *,
    held_out: int,
    seed: int,
    size: int | None = None,
    families: Mapping[str, list[str]] | None = None,
) -> HeldOut:
    """Set ``held_out`` runs aside, fit on the rest (or on ``size`` of them), and score."""
    train, test = swarm.split(held_out, seed)
    if size is not None:
        chosen = np.random.default_rng(seed).permutation(len(train))[:size]
        train = train.rows(np.sort(chosen))
    return score(method.fit(train, families), train, test, families)
