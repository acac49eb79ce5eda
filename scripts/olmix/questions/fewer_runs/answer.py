"""What every strategy gains over natural with few proxy runs, by the law of its swarms.

The yardstick is full recomputation at the largest c with OlmixBase's law: what a smaller swarm and
another law have to reach.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.updates.answer import improvements
from olmix.updates.strategies import FULL_RECOMPUTATION

__all__ = ["answer", "by_law", "yardstick"]

_LEVEL = 0.95


def by_law(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean improvement over seeds with its 95 % interval, by law, strategy and c."""
    grouped = frame.groupby(["law", "strategy", "c", "proxy_runs"], sort=False)["improvement"]
    table = grouped.agg(mean="mean", error="sem", seeds="count").reset_index()
    reach = table["error"] * _quantile(table["seeds"] - 1)
    return table.assign(low=table["mean"] - reach, high=table["mean"] + reach)


def yardstick(table: pd.DataFrame, law: str) -> pd.Series:
    """The row of full recomputation with a law at the largest c."""
    rows = table[(table["strategy"] == FULL_RECOMPUTATION.name) & (table["law"] == law)]
    return rows.loc[rows["c"].idxmax()]


def answer(data: QuestionData, result: Answer) -> None:
    """Improvement against proxy runs by law and strategy, and what it is of the yardstick's."""
    own = data.planned["law"]
    frame = pd.concat(
        [
            improvements(data.averages(target), chains)
            for target, chains in data.planned["groups"].items()
        ],
        ignore_index=True,
    )
    frame["law"] = frame["law"].replace("", own)
    table = by_law(frame)
    goal = yardstick(table, own)
    table = _compared(table, goal)
    result.table("fewer_runs", frame)
    result.table("fewer_runs_by_law", table)
    result.finish(
        {
            "law": own,
            "yardstick": _entry(goal),
            "chains": [
                _entry(row) | {"share_of_yardstick": row["share_of_yardstick"]}
                for _, row in table.iterrows()
            ],
        }
    )


def _compared(table: pd.DataFrame, goal: pd.Series) -> pd.DataFrame:
    """Every row's difference from the yardstick, with its 95 % interval."""
    difference = table["mean"] - goal["mean"]
    freedom = table["seeds"] + goal["seeds"] - 2
    reach = np.hypot(table["error"], goal["error"]) * _quantile(freedom)
    return table.assign(
        share_of_yardstick=table["mean"] / goal["mean"],
        difference=difference,
        difference_low=difference - reach,
        difference_high=difference + reach,
    )


def _quantile(freedom: pd.Series) -> np.ndarray:
    """How many standard errors the interval reaches either side (Student's t)."""
    return t.ppf((1 + _LEVEL) / 2, np.maximum(freedom, 1))


def _entry(row: pd.Series) -> dict[str, Any]:
    numbers = {key: float(row[key]) for key in ("c", "mean", "low", "high")}
    names = {key: row[key] for key in ("law", "strategy")}
    return names | numbers | {"proxy_runs": int(row["proxy_runs"])}
