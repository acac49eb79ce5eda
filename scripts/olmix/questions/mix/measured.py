"""What target runs measured of some mixes: averages, gains with intervals, noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from olmix.questions.mix.plan import PROPOSED
from olmix.tables import SwarmTable

__all__ = ["Measured"]


@dataclass(frozen=True)
class Measured:
    """Target runs of the same mixes, repeated: a table per repetition, tasks as they count.

    The runs of one repetition read their data in the same order, so that mixes are compared inside
    each repetition; intervals are Student's over the repetitions.
    """

    tables: Sequence[SwarmTable]
    level: float

    @property
    def runs(self) -> pd.DataFrame:
        """A row per repetition and mix: its average BPB."""
        return pd.DataFrame(
            [
                {"repetition": number, "mix": mix, "bpb": bpb}
                for number, table in enumerate(self.tables)
                for mix, bpb in zip(table.runs, table.average, strict=True)
            ]
        )

    def by_mix(self) -> pd.DataFrame:
        """A row per mix: mean average BPB, its interval, the standard deviation of its runs."""
        rows = []
        for mix, part in self.runs.groupby("mix", sort=False):
            low, mean, high = self._interval(part["bpb"].to_numpy())
            sd = part["bpb"].std() if len(part) > 1 else math.nan
            rows.append({"mix": mix, "bpb": mean, "low": low, "high": high, "sd": sd})
        return pd.DataFrame(rows)

    def gains(self, others: Sequence[str]) -> pd.DataFrame:
        """A row per other mix: how much lower the proposed mix's BPB is, in % of the other's."""
        wide = self.runs.pivot(index="repetition", columns="mix", values="bpb")
        rows = []
        for other in others:
            gain = (100 * (1 - wide[PROPOSED] / wide[other])).to_numpy()
            low, mean, high = self._interval(gain)
            rows.append({"over": other, "gain": mean, "low": low, "high": high})
        return pd.DataFrame(rows)

    def by_task(self, others: Sequence[str]) -> pd.DataFrame:
        """A row per task and other mix: BPB of both, and the gain with its interval."""
        rows = []
        for column, task in enumerate(self.tables[0].tasks):
            values: Mapping[str, np.ndarray] = {
                mix: np.array([t.metrics[t.runs.index(mix), column] for t in self.tables])
                for mix in (PROPOSED, *others)
            }
            for other in others:
                low, mean, high = self._interval(100 * (1 - values[PROPOSED] / values[other]))
                rows.append(
                    {
                        "task": task,
                        "over": other,
                        "weight": self.tables[0].shares[column],
                        "proposed_bpb": values[PROPOSED].mean(),
                        "other_bpb": values[other].mean(),
                        "gain": mean,
                        "low": low,
                        "high": high,
                    }
                )
        return pd.DataFrame(rows)

    @property
    def noise(self) -> float:
        """Standard deviation of a single run, in % of its BPB, over all mixes; NaN of one each."""
        frame = self.by_mix()
        return 100 * math.sqrt((frame["sd"] ** 2).mean()) / frame["bpb"].mean()

    @property
    def visible(self) -> float:
        """The smallest gain, in %, that would be larger than its interval by this noise."""
        count = len(self.tables)
        return self._quantile() * self.noise * math.sqrt(2 / count)

    def _interval(self, values: np.ndarray) -> tuple[float, float, float]:
        mean = float(values.mean())
        if len(values) < 2:
            return math.nan, mean, math.nan
        half = self._quantile() * float(values.std(ddof=1)) / math.sqrt(len(values))
        return mean - half, mean, mean + half

    def _quantile(self) -> float:
        return float(stats.t.ppf(0.5 + self.level / 2, len(self.tables) - 1))
