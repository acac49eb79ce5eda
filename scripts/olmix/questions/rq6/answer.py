"""RQ6: where to enforce the repetition factor k, and what it does to the mix (§3.3; App. RQ6)."""

from typing import Any

import numpy as np
import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq6.plan import APPROACHES, MATCHED, factor_name

__all__ = ["answer"]

# A solver meets a cap to rounding error.
_SLACK = 1e-6
# Weights that differ by less are the same.
_SAME = 1e-4


def answer(data: QuestionData, result: Answer) -> None:
    """Repetition and target BPB of the approaches; proposed weights against k."""
    constraints, weights = _constraints(data), _weights(data)
    result.table("repetition_constraints", constraints)
    result.table("weights", weights)
    table = constraints.set_index("approach")
    satisfied = table[table["satisfied"]]
    result.finish(
        {
            "repetition_factor": data.settings["repetition"],
            "satisfied": table["satisfied"].to_dict(),
            "largest_repetition": table["largest_repetition"].to_dict(),
            "target_bpb": table["target_bpb"].to_dict(),
            "lowest_target_bpb": table["target_bpb"].idxmin(),
            "lowest_target_bpb_satisfied": (
                None if satisfied.empty else satisfied["target_bpb"].idxmin()
            ),
            **_directions(weights),
        }
    )


def _constraints(data: QuestionData) -> pd.DataFrame:
    """A row per approach: how often its most repeated domain is seen in R tokens, target BPB."""
    target = data.planned["target"]
    measured, errors = data.averages(target), data.errors(target)
    k = data.settings["repetition"]
    rows = []
    for approach in data.planned["approaches"]:
        swarm, optimization = APPROACHES.get(approach, (False, False))
        seen = data.proposal("rq6", approach)["repetition"]
        most = max(seen, key=seen.get)
        rows.append(
            {
                "approach": approach,
                "constrained_swarm": swarm,
                "constrained_optimization": optimization,
                "ours": approach == MATCHED,
                "satisfied": seen[most] <= k * (1 + _SLACK),
                "largest_repetition": seen[most],
                "most_repeated": most,
                "target_bpb": measured[approach],
                "target_error": errors[approach],
            }
        )
    return pd.DataFrame(rows)


def _weights(data: QuestionData) -> pd.DataFrame:
    """A row per k and domain: the proposed weight, its cap, how often the domain is seen."""
    rows = []
    for factor in data.settings["rq6"]["factors"]:
        proposal = data.proposal("rq6", factor_name(factor))
        for domain, weight in zip(proposal["domains"], proposal["weights"], strict=True):
            cap = proposal["caps"][domain]
            rows.append(
                {
                    "factor": float(factor),
                    "domain": domain,
                    "weight": weight,
                    "cap": np.inf if cap is None else cap,
                    "repetition": proposal["repetition"][domain],
                }
            )
    return pd.DataFrame(rows)


def _directions(weights: pd.DataFrame) -> dict[str, Any]:
    """Which domains only gain and which only lose weight as k grows, and how far the mix moves."""
    table = weights.pivot(index="factor", columns="domain", values="weight").sort_index()
    steps = table.diff().iloc[1:]
    moved = (table.iloc[-1] - table.iloc[0]).abs() > _SAME
    return {
        "weights_that_only_grow_with_k": list(table.columns[(steps >= -_SAME).all() & moved]),
        "weights_that_only_shrink_with_k": list(table.columns[(steps <= _SAME).all() & moved]),
        "total_variation_from_smallest_to_largest_k": float(
            0.5 * (table.iloc[-1] - table.iloc[0]).abs().sum()
        ),
    }
