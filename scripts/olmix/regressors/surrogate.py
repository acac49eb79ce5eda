"""The surrogate f̂: a regressor together with what its inputs and outputs mean (§2.2 step 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.mix import Mix
from olmix.regressors import make_regressor, regressor_from_dict
from olmix.regressors.base import Regressor
from olmix.tables import SwarmTable

__all__ = ["GRANULARITIES", "Surrogate", "fit_surrogate", "pearson_by_output"]

GRANULARITIES = ("task", "family", "aggregated")


@dataclass(frozen=True)
class Surrogate:
    """Predicts average BPB as a weighted sum of fitted outputs.

    Outputs are the tasks (weights 1/n), the families (weights |F|/n) or the average itself:
    the granularities of RQ5.
    """

    domains: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: np.ndarray  # (outputs,), sums to one
    granularity: str
    regressor: Regressor

    def predict(self, mixes: np.ndarray) -> np.ndarray:
        """BPB of every output: (mixes, outputs)."""
        return self.regressor.predict(mixes)

    def average(self, mixes: np.ndarray) -> np.ndarray:
        """Predicted average BPB of each mix."""
        return self.predict(mixes) @ self.weights

    def predict_mix(self, mix: Mix) -> dict[str, float]:
        """BPB of every output for one named mix."""
        values = self.predict(mix.aligned(self.domains).weights[None])[0]
        return dict(zip(self.outputs, values.tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        """Write ``model.json``."""
        write_json(path, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The surrogate as plain JSON values."""
        return {
            "domains": list(self.domains),
            "outputs": list(self.outputs),
            "weights": self.weights.tolist(),
            "granularity": self.granularity,
            "regressor": self.regressor.to_dict(),
        }

    @classmethod
    def load(cls, path: str | Path) -> "Surrogate":
        """Read ``model.json``."""
        record = read_json(path)
        try:
            return cls(
                domains=tuple(record["domains"]),
                outputs=tuple(record["outputs"]),
                weights=np.array(record["weights"], dtype=float),
                granularity=record["granularity"],
                regressor=regressor_from_dict(record["regressor"]),
            )
        except (KeyError, TypeError) as error:
            raise OlmixError(f"{path}: not a fitted model, {error} is missing") from error


def outputs_of(
    swarm: SwarmTable, granularity: str, families: Mapping[str, Sequence[str]]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names, weights in the average, and measured values (runs, outputs) at a granularity (RQ5)."""
    if granularity == "task":
        return swarm.tasks, swarm.shares, swarm.metrics
    if granularity == "aggregated":
        return ("average",), np.ones(1), swarm.average[:, None]
    if granularity == "family":
        parts = {
            family: swarm.select_tasks([task for task in tasks if task in swarm.tasks])
            for family, tasks in families.items()
            if set(tasks) & set(swarm.tasks)
        }
        shares = dict(zip(swarm.tasks, swarm.shares, strict=True))
        weights = np.array([sum(shares[task] for task in part.tasks) for part in parts.values()])
        return tuple(parts), weights, np.column_stack([part.average for part in parts.values()])
    raise OlmixError(f"granularity {granularity!r}: expected one of {', '.join(GRANULARITIES)}")


def fit_surrogate(
    swarm: SwarmTable,
    *,
    family: str = "log_linear",
    granularity: str = "task",
    families: Mapping[str, Sequence[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Surrogate:
    """Fit a regression family on a swarm at a granularity (Algorithm 1, lines 4-6)."""
    if granularity == "family" and not families:
        raise OlmixError("granularity 'family' needs the task families")
    outputs, weights, values = outputs_of(swarm, granularity, families or {})
    regressor = make_regressor(family, **(settings or {}))
    if regressor.convex and (values < 0).any():
        run, output = np.argwhere(values < 0)[0]
        raise OlmixError(
            f"'{outputs[output]}' of run '{swarm.runs[run]}' is {values[run, output]:g}: the "
            f"{family} law is for losses, expected 0 or more (lightgbm and gaussian_process take "
            "any)"
        )
    regressor.fit(swarm.mixes, values)
    return Surrogate(swarm.domains, outputs, weights, granularity, regressor)


def pearson_by_output(predicted: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Pearson correlation of each column; a constant prediction ranks nothing and scores 0."""
    predicted = predicted - predicted.mean(0)
    measured = measured - measured.mean(0)
    scale = np.sqrt((predicted**2).sum(0) * (measured**2).sum(0))
    flat = scale <= 1e-12 * np.maximum(1.0, (measured**2).sum(0))
    return np.where(flat, 0.0, (predicted * measured).sum(0) / np.where(flat, 1.0, scale))
