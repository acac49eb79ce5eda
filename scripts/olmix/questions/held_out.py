"""Regression fit on held-out mixes: several swarms' models on the same runs, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from olmix.correlation import interval, resample
from olmix.errors import OlmixError
from olmix.surrogate import Surrogate, outputs_of, pearson_by_output
from olmix.tables import SwarmTable

__all__ = ["Fit", "fits", "join_runs"]


@dataclass(frozen=True)
class Fit:
    """The mean Pearson correlation over outputs, its interval, and each output's."""

    mean: float
    low: float
    high: float
    by_output: dict[str, float]
    #: the mean on each bootstrap resample of the held-out runs, the same resamples for every model
    resampled: np.ndarray


def join_runs(tables: Sequence[SwarmTable]) -> SwarmTable:
    """The runs of several swarms over the same domains and tasks, as one."""
    first = tables[0]
    for table in tables[1:]:
        if (table.domains, table.tasks) != (first.domains, first.tasks):
            raise OlmixError(
                f"runs '{first.runs[0]}' and '{table.runs[0]}' have other domains or tasks"
            )
    return replace(
        first,
        runs=tuple(run for table in tables for run in table.runs),
        mixes=np.concatenate([table.mixes for table in tables]),
        metrics=np.concatenate([table.metrics for table in tables]),
    )


def fits(
    models: Mapping[str, Surrogate],
    held_out: SwarmTable,
    families: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
) -> dict[str, Fit]:
    """The fit of each model on the held-out runs; intervals are over those runs, paired."""
    pairs = {}
    for name, model in models.items():
        if model.domains != held_out.domains:
            raise OlmixError(f"model '{name}' is not over the domains of the held-out mixes")
        outputs, _, measured = outputs_of(held_out, model.granularity, families)
        pairs[name] = outputs, model.predict(held_out.mixes), measured

    def means(rows: np.ndarray) -> np.ndarray:
        return np.array([pearson_by_output(p[rows], m[rows]).mean() for _, p, m in pairs.values()])

    resampled = resample(means, len(held_out), seed=seed)
    found = {}
    for column, (name, (outputs, predicted, measured)) in enumerate(pairs.items()):
        correlations = pearson_by_output(predicted, measured)
        low, high = interval(resampled[:, column])
        found[name] = Fit(
            mean=float(correlations.mean()),
            low=float(low),
            high=float(high),
            by_output=dict(zip(outputs, correlations.tolist(), strict=True)),
            resampled=resampled[:, column],
        )
    return found
