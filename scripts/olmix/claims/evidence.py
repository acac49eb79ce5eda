"""What claims are measured from: the questions' tables, and intervals of four kinds.

Which kind belongs where is said in config/claims.yaml.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from olmix.claims.rules import Estimate
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.questions.noise.answer import pooled
from olmix.study.plan import TARGET

__all__ = ["Evidence", "Measured", "NotMeasured"]

#: part of a claim -> its estimates
Measured = dict[str, list[Estimate]]


class NotMeasured(Exception):  # noqa: N818 (an answer, not an error)
    """A scale cannot give a claim's number; the message says why."""


@dataclass(frozen=True)
class Evidence:
    """The results folders of all questions, and the coverage that intervals have."""

    results: Path
    confidence: float

    def has(self, question: str, name: str) -> bool:
        """Whether a question's results hold a table: not every scale has every one."""
        return (self.results / question / f"{name}.csv").is_file()

    def table(self, question: str, name: str) -> pd.DataFrame:
        """A table of a question's results."""
        path = self.results / question / f"{name}.csv"
        try:
            return pd.read_csv(path)
        except FileNotFoundError:
            raise OlmixError(f"{path}: no such file, expected a table of '{question}'") from None
        except pd.errors.EmptyDataError:
            return pd.DataFrame()

    def summary(self, question: str) -> dict[str, Any]:
        """The summary of a question."""
        return read_json(self.results / question / "summary.json")

    @cached_property
    def noise(self) -> tuple[float, int]:
        """Standard deviation of a target run's average BPB, and its degrees of freedom."""
        return pooled(self.table("noise", "noise"), TARGET)

    def over_seeds(
        self, values: Sequence[float], label: str = "", *, natural: float = 0.0
    ) -> Estimate:
        """The mean over seeds, with a t interval.

        ``natural`` is the standard deviation of a single run that all values are relative to, in
        their unit: its variance is added, with Welch's degrees of freedom.
        """
        seeds = np.asarray(values, dtype=float)
        count, mean = len(seeds), float(seeds.mean())
        if count < 2:
            return Estimate(mean, -math.inf, math.inf, label)
        own = float(seeds.var(ddof=1)) / count
        variance = own + natural**2
        freedom: float = count - 1
        if natural and variance:
            freedom = variance**2 / (own**2 / (count - 1) + natural**4 / self.noise[1])
        half = self._quantile(freedom) * math.sqrt(variance)
        return Estimate(mean, mean - half, mean + half, label)

    def between_runs(
        self, question: str, difference: float, label: str = "", *, unit: float = 1.0
    ) -> Estimate:
        """A difference of two of a question's target mixes, each the mean of its repetitions.

        ``unit`` turns BPB into the difference's unit.
        """
        repeats = read_json(self.results / question / "provenance.json")["target_repeats"]
        half = unit * self.run_difference / math.sqrt(repeats)
        return Estimate(difference, difference - half, difference + half, label)

    @property
    def run_difference(self) -> float:
        """How far two single target runs of one mix may be apart: t·√2·s."""
        sd, freedom = self.noise
        return self._quantile(freedom) * math.sqrt(2) * sd

    def over_draws(self, values: Sequence[float], label: str = "") -> Estimate:
        """The mean over draws of what is not known, such as replicas of a law: mean ± t·s.

        Not divided by the root of their number: more draws do not make it better known.
        """
        drawn = np.asarray(values, dtype=float)
        if len(drawn) < 2 or not np.isfinite(drawn).all():
            return Estimate(math.nan, math.nan, math.nan, label)
        mean = float(drawn.mean())
        half = self._quantile(len(drawn) - 1) * float(drawn.std(ddof=1))
        return Estimate(mean, mean - half, mean + half, label)

    def resampled(self, value: float, replicates: np.ndarray, label: str = "") -> Estimate:
        """A statistic with the percentile interval of its bootstrap replicates."""
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(replicates, [tail, 1 - tail])
        return Estimate(float(value), float(low), float(high), label)

    def exact(self, value: float, label: str = "") -> Estimate:
        """A number that is computed, not measured."""
        return Estimate(float(value), float(value), float(value), label)

    def _quantile(self, freedom: float) -> float:
        return float(stats.t.ppf((1 + self.confidence) / 2, freedom))
