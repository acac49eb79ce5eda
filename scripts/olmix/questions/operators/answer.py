"""Each kind of update alone: how near full mixture reuse and natural are to full recomputation.

Appendix, ablations for each operator. The paper trained no target for Revise, whose mixes were
nearly the same; here it is trained too.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from olmix.proposers.proposal import read_mix
from olmix.questions.answer import Answer, QuestionData
from olmix.study.chain import NATURAL, Chain
from olmix.study.single_updates import MULTIPLIER, TIGHT
from olmix.updates.strategies import FULL_MIXTURE_REUSE, FULL_RECOMPUTATION

__all__ = ["answer"]

FULL, REUSE = FULL_RECOMPUTATION.name, FULL_MIXTURE_REUSE.name


def answer(data: QuestionData, result: Answer) -> None:
    """TV distance and relative performance gap of every operator, strategy and seed."""
    frame = pd.concat(
        [
            _compare(data, update).assign(operator=operator)
            for operator, update in data.planned["operators"].items()
        ],
        ignore_index=True,
    )
    columns = ["operator", "strategy", "seed", "tv", "bpb", "full_bpb", "gap"]
    result.table("operators", frame[columns])
    left_out = data.planned.get("left_out", {}).items()
    notes = [f"{operator} is left out: {why}" for operator, why in left_out]
    result.finish(_summary(frame) | {"notes": notes})


def _compare(data: QuestionData, update: Mapping[str, Any]) -> pd.DataFrame:
    """Compare natural and full reuse with full recomputation of the same seed, for one update."""
    folder, averages = data.proposals[update["mixes"]], data.averages(update["target"])
    rows = []
    for seed in range(data.settings["seeds"]):
        full, reuse = (Chain(name, MULTIPLIER, TIGHT, seed).name for name in (FULL, REUSE))
        best, best_bpb = read_mix(folder / f"{full}.json"), averages[full]
        for strategy, run in ((NATURAL, NATURAL), (REUSE, reuse)):
            rows.append(
                {
                    "strategy": strategy,
                    "seed": seed,
                    "tv": read_mix(folder / f"{run}.json").total_variation(best),
                    "bpb": averages[run],
                    "full_bpb": best_bpb,
                    "gap": 100 * (averages[run] - best_bpb) / best_bpb,
                }
            )
    return pd.DataFrame(rows)


def _summary(frame: pd.DataFrame) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for (operator, strategy), part in frame.groupby(["operator", "strategy"], sort=False):
        summary.setdefault(operator, {})[strategy] = {
            "tv": part["tv"].mean(),
            "gap": part["gap"].mean(),
            "gap_low": part["gap"].min(),
            "gap_high": part["gap"].max(),
        }
    for strategies in summary.values():
        reuse, natural = strategies[REUSE], strategies[NATURAL]
        strategies["reuse_is_nearer"] = bool(reuse["tv"] < natural["tv"])
        strategies["reuse_gap_is_smaller"] = bool(abs(reuse["gap"]) < abs(natural["gap"]))
    return {"operators": summary}
