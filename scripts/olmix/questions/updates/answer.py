"""The evolving-domain study: what each strategy gains over natural, and at what cost (§5.1)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.proposal import read_mix
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.updates.auto_reuse import chosen_by_auto_reuse, counted
from olmix.questions.updates.plan import MULTIPLIER
from olmix.study.chain import NATURAL, Chain
from olmix.study.scale import DISJOINT
from olmix.updates.strategies import FULL_RECOMPUTATION, PARTIAL_MIXTURE_REUSE

__all__ = ["answer", "by_strategy", "data_efficiency", "improvements", "shared_runs"]

FULL, PARTIAL = FULL_RECOMPUTATION.name, PARTIAL_MIXTURE_REUSE.name


def improvements(
    averages: dict[str, float], chains: Iterable[tuple[dict[str, Any], int]]
) -> pd.DataFrame:
    """One row per chain: proxy runs over all stages, target BPB, improvement over natural in %."""
    natural = averages[NATURAL]
    rows = []
    for record, runs in chains:
        bpb = averages[Chain(**record).name]
        gain = 100 * (natural - bpb) / natural
        rows.append({**record, "proxy_runs": runs, "bpb": bpb, "improvement": gain})
    return pd.DataFrame(rows)


def by_strategy(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean, smallest and largest improvement over seeds."""
    keys = ["strategy", "c", "requested", "proxy_runs"]
    grouped = frame.groupby(keys, sort=False)["improvement"]
    return grouped.agg(mean="mean", low="min", high="max", seeds="count").reset_index()


def answer(data: QuestionData, result: Answer) -> None:
    """The main results: improvement against runs, mixes, and (of trained runs) data efficiency."""
    averages = data.averages(data.planned["target"])
    frame = improvements(averages, data.planned["chains"])
    strategies = by_strategy(frame)
    result.table("main_results", frame)
    result.table("main_results_by_strategy", strategies)
    result.table("total_variation", _total_variation(data, frame))
    mixes = _final_mixes(data, frame)
    result.table("full_domain_mixtures", mixes)
    chosen = chosen_by_auto_reuse(data.planned, data.choices)
    result.table("auto_reuse", chosen)
    found = _summary(averages, strategies, mixes) | {"named_by_auto_reuse": counted(chosen)}
    if data.runs:
        curve = _curves(data, frame)
        result.table("checkpoints", curve)
        found["data_efficiency"] = data_efficiency(curve)
    result.finish(found | {"notes": shared_runs(data)})


def shared_runs(data: QuestionData) -> list[str]:
    """A note where seeds draw from one pool: their intervals are narrower than of fresh runs."""
    share = data.settings["pool_share"]
    if share == DISJOINT or data.settings["seeds"] == 1 or not data.planned["draws"]:
        return []
    return [f"any two seeds share {100 / share:.0f} % of the runs that they draw from pools"]


def _summary(
    averages: dict[str, float], strategies: pd.DataFrame, mixes: pd.DataFrame
) -> dict[str, Any]:
    full_runs = (strategies["strategy"] == FULL) & (strategies["c"] == MULTIPLIER)
    best_full = strategies[full_runs].iloc[0]
    shares = {
        Chain(row.strategy, row.c, row.requested, 0).kind: {
            "strategy": row.strategy,
            "c": row.c,
            "improvement": row.mean,
            "low": row.low,
            "high": row.high,
            "proxy_runs": int(row.proxy_runs),
            "share_of_full_recomputation": _share(row.mean, best_full["mean"]),
            "fewer_runs": 1 - _share(row.proxy_runs, best_full["proxy_runs"]),
        }
        for row in strategies.itertuples()
    }
    natural, full, partial = (
        Mix(tuple(mixes["domain"]), mixes[name].to_numpy()) for name in (NATURAL, FULL, PARTIAL)
    )
    return {
        "natural_bpb": averages[NATURAL],
        "strategies": shares,
        "partial_to_full_tv": partial.total_variation(full),
        "partial_to_natural_tv": partial.total_variation(natural),
    }


def _share(part: float, whole: float) -> float:
    """A share of a whole; all of it where there is nothing, as of runs where none are trained."""
    return float(part / whole) if whole else 1.0


def _final_mixes(data: QuestionData, frame: pd.DataFrame) -> pd.DataFrame:
    """Natural, full recomputation and partial reuse over every domain: the best seed of each."""
    folder = data.proposals[data.planned["mixes"]]
    natural = read_mix(folder / f"{NATURAL}.json")
    columns = {"domain": natural.names, NATURAL: natural.weights}
    for strategy in (FULL, PARTIAL):
        best = _best_chain(frame, strategy)
        columns[strategy] = read_mix(folder / f"{best}.json").aligned(natural.names).weights
    return pd.DataFrame(columns)


def _total_variation(data: QuestionData, frame: pd.DataFrame) -> pd.DataFrame:
    """How far each strategy's mix (c = 3) is from natural and from full recomputation, by seed."""
    folder = data.proposals[data.planned["mixes"]]
    natural = read_mix(folder / f"{NATURAL}.json")
    rows = []
    for record in frame[frame["c"] == MULTIPLIER].to_dict("records"):
        chain = _chain(record)
        mix = read_mix(folder / f"{chain.name}.json").aligned(natural.names)
        full = read_mix(folder / f"{replace(chain, strategy=FULL).name}.json")
        rows.append(
            {
                "strategy": chain.strategy,
                "seed": chain.seed,
                "to_natural": mix.total_variation(natural),
                "to_full_recomputation": mix.total_variation(full.aligned(natural.names)),
            }
        )
    return pd.DataFrame(rows)


def _best_chain(frame: pd.DataFrame, strategy: str) -> str:
    """The seed with the lowest target BPB at c = 3."""
    part = frame[(frame["strategy"] == strategy) & (frame["c"] == MULTIPLIER)]
    return _chain(part.loc[part["bpb"].idxmin()]).name


def _chain(row: Mapping[str, Any]) -> Chain:
    """The chain that a row of the table is about."""
    return Chain(row["strategy"], int(row["c"]), row["requested"], int(row["seed"]))


def _curves(data: QuestionData, frame: pd.DataFrame) -> pd.DataFrame:
    """BPB along the training of natural and of partial reuse's best seed."""
    rows = []
    for name, run in ((NATURAL, NATURAL), (PARTIAL, _best_chain(frame, PARTIAL))):
        record = read_json(data.runs[data.planned["target"]][run] / "run.json")
        for entry in record["evaluations"]:
            bpb = entry["result"]["average"]
            rows.append({"mix": name, "step": entry["step"], "bpb": bpb})
    return pd.DataFrame(rows)


def data_efficiency(curve: pd.DataFrame) -> float | None:
    """How many times fewer steps partial reuse needs for natural's final BPB; None if never.

    Between two evaluations the BPB is taken as linear in the step.
    """
    natural = curve[curve["mix"] == NATURAL].sort_values("step")
    partial = curve[curve["mix"] == PARTIAL].sort_values("step")
    goal = natural["bpb"].iloc[-1]
    steps, values = partial["step"].to_numpy(float), partial["bpb"].to_numpy(float)
    below = np.flatnonzero(values <= goal)
    if not below.size:
        return None
    first = below[0]
    reached = steps[first]
    if first > 0:
        share = (values[first - 1] - goal) / (values[first - 1] - values[first])
        reached = steps[first - 1] + share * (steps[first] - steps[first - 1])
    return float(natural["step"].iloc[-1] / reached)
