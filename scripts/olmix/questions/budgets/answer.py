"""Tight R and low budgets: what each strategy gains over natural under the same R (§5.1)."""

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.updates.answer import by_strategy, improvements, shared_runs
from olmix.study.chain import Chain

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Improvement against runs of every group of chains, relative to natural beside them."""
    frames = []
    for name, group in data.planned["groups"].items():
        part = improvements(data.averages(group["target"]), group["chains"])
        frames.append(part.assign(group=name))
    frame = pd.concat(frames, ignore_index=True)
    result.table("budgets", frame)
    strategies = by_strategy(frame)
    result.table("budgets_by_strategy", strategies)
    result.finish(
        {
            "strategies": {
                Chain(row.strategy, row.c, row.requested, 0).kind_and_request: {
                    "strategy": row.strategy,
                    "c": row.c,
                    "requested": row.requested,
                    "improvement": row.mean,
                    "low": row.low,
                    "high": row.high,
                    "proxy_runs": int(row.proxy_runs),
                }
                for row in strategies.itertuples()
            },
            "notes": shared_runs(data),
        }
    )
