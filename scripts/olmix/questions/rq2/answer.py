"""RQ2: how many proxy runs does a mix of m domains need? (§3.3.1; App. RQ2)."""

from typing import Any

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq2.plan import proposal_name

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Error of the mixes proposed from K = c(m+1) runs, with the proxy and with the target."""
    settings = data.settings["rq2"]
    counts = sorted(settings["domains"])
    ends = sorted({counts[0], counts[-1]})
    proxies, targets = data.planned["proxy"], data.planned["target"]
    sweeps = {
        "swarm_size": _sweep(data, proxies, counts, settings["multipliers"]),
        "swarm_size_target": _sweep(data, targets, ends, settings["target_multipliers"]),
    }
    summary = {}
    for name, proposals in sweeps.items():
        curves = _curves(proposals)
        result.table(f"{name}_proposals", proposals)
        result.table(name, curves)
        summary[name] = _summary(proposals, curves)
    result.finish(summary)


def _sweep(
    data: QuestionData, swarms: list[str], counts: list[int], multipliers: list[int]
) -> pd.DataFrame:
    """A row per proposal: its measured BPB, and how far that is from the best found for its m.

    ``pool_share`` says how much of the pool of runs a swarm of this size is: the nearer to one, the
    more alike are the swarms of different seeds, and the narrower is their interval for that alone.
    """
    measured, pools = data.averages(swarms), dict(data.planned["pools"])
    rows = []
    for m in counts:
        pool = len(data.table(pools[m]))
        for c in multipliers:
            for seed in range(data.settings["seeds"]):
                rows.append(
                    {
                        "domains": m,
                        "multiplier": c,
                        "runs": c * (m + 1),
                        "pool_share": c * (m + 1) / pool,
                        "seed": seed,
                        "measured_bpb": measured[proposal_name(m, c, seed)],
                    }
                )
    frame = pd.DataFrame(rows)
    best = frame.groupby("domains")["measured_bpb"].transform("min")
    return frame.assign(error=frame["measured_bpb"] - best)


def _curves(proposals: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest error over the seeds, for each m and c."""
    groups = proposals.groupby(["domains", "multiplier", "runs", "pool_share"], sort=False)["error"]
    return groups.agg(error="mean", lowest="min", highest="max").reset_index()


def _summary(proposals: pd.DataFrame, curves: pd.DataFrame) -> dict[str, Any]:
    table = curves.pivot(index="domains", columns="multiplier", values="error")
    by_multiplier = {
        str(c): {"mean": errors.mean(), "lowest_m": errors.min(), "highest_m": errors.max()}
        for c, errors in table.items()
    }
    return {
        "best_bpb": _by_name(proposals.groupby("domains")["measured_bpb"].min()),
        "error_by_multiplier": by_multiplier,
        "error_by_domains": _by_name(table.mean(axis=1)),
        "variance_explained": _variance_explained(table),
    }


def _variance_explained(table: pd.DataFrame) -> dict[str, float] | None:
    """Shares of the variance of the mean errors due to c and to m, in a two-way layout.

    Curves that collapse leave nothing to m; None if all errors are equal.
    """
    grand = table.to_numpy().mean()
    total = ((table - grand) ** 2).to_numpy().mean()
    if total == 0:
        return None
    return {
        "multiplier": float(((table.mean(axis=0) - grand) ** 2).mean() / total),
        "domains": float(((table.mean(axis=1) - grand) ** 2).mean() / total),
    }


def _by_name(values: pd.Series) -> dict[str, float]:
    return {str(name): float(value) for name, value in values.items()}
