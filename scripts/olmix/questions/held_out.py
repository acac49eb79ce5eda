"""Regression fit on held-out mixes: several swarms' models on the same runs, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from olmix.errors import OlmixError
from olmix.regressors.correlation import interval, resample
from olmix.regressors.surrogate import Surrogate, pearson_by_output
from olmix.tables import SwarmTable

__all__ = ["Fit", "fits", "join_runs"]


@dataclass(frozen=True)
class Fit:
    """The mean Pearson correlation over tasks, its interval, and each task's."""

    mean: float
    low: float
    high: float
    by_task: dict[str, float]
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


def fits(models: Mapping[str, Surrogate], held_out: SwarmTable, *, seed: int = 0) -> dict[str, Fit]:
    """The fit of each per-task model on the held-out runs; intervals are over those runs."""
    for name, model in models.items():
        if (model.domains, model.outputs) != (held_out.domains, held_out.tasks):
            raise OlmixError(f"model '{name}' is not over the domains and tasks held out")
    # (runs, models, tasks), and measured values that broadcast to it
    predicted = np.stack([model.predict(held_out.mixes) for model in models.values()], axis=1)
    measured = held_out.metrics[:, None]

    def means(rows: np.ndarray) -> np.ndarray:
        return pearson_by_output(predicted[rows], measured[rows]).mean(1)

    resampled = resample(means, len(held_out), seed=seed)
    low, high = interval(resampled)
    by_task = pearson_by_output(predicted, measured)
    return {
        name: Fit(
            mean=float(by_task[i].mean()),
            low=float(low[i]),
            high=float(high[i]),
            by_task=dict(zip(held_out.tasks, by_task[i].tolist(), strict=True)),
            resampled=resampled[:, i],
        )
        for i, name in enumerate(models)
    }
