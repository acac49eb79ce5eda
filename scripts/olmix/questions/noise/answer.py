"""Run-to-run noise: how far runs of one mix differ when only their data order does.

What two single runs differ by means something only beyond this (the paper has no such study).
"""

import math

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.study.plan import TARGET

__all__ = ["answer", "pooled"]


def answer(data: QuestionData, result: Answer) -> None:
    """Average BPB of every run, and its standard deviation over data seeds per model and mix."""
    runs = pd.DataFrame(
        [
            {"model": model, "mix": mix, "seed": seed, "bpb": bpb}
            for model in ("proxy", TARGET)
            for mix, swarm in data.planned[model].items()
            for seed, bpb in enumerate(data.averages(swarm).values())
        ]
    )
    noise = _by_mix(runs)
    result.table("runs", runs)
    result.table("noise", noise)
    result.finish(
        {
            model: dict(zip(("sd", "degrees_of_freedom"), pooled(noise, model), strict=True))
            for model in noise["model"].unique()
        }
    )


def _by_mix(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per model and mix: mean, standard deviation and its degrees of freedom."""
    groups = runs.groupby(["model", "mix"], sort=False)["bpb"]
    frame = groups.agg(mean="mean", sd="std", seeds="count").reset_index()
    return frame.assign(
        degrees_of_freedom=frame["seeds"] - 1, percent=100 * frame["sd"] / frame["mean"]
    )


def pooled(noise: pd.DataFrame, model: str) -> tuple[float, int]:
    """The standard deviation of a model's runs over all its mixes, and its degrees of freedom."""
    part = noise[noise["model"] == model]
    freedom = int(part["degrees_of_freedom"].sum())
    return math.sqrt((part["degrees_of_freedom"] * part["sd"] ** 2).sum() / freedom), freedom
