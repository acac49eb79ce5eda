"""RQ4: which regression family? Fit against swarm size, and BPB of what it proposes (App. RQ4)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.method import Method
from olmix.questions.answer import Answer, QuestionData
from olmix.study.questions import FAMILY_SOLVERS
from olmix.tables import SwarmTable
from olmix.validation import validate

__all__ = ["FAMILIES", "LEVELS", "SOLVERS", "answer", "fit_curve", "solver_name"]

FAMILIES = tuple(FAMILY_SOLVERS)
LEVELS = ("topics", "sources")
SOLVERS = ("exact", "exact-kl", "search")
# The families that the paper tries under every solver.
_POWER_LAWS = ("bimix", "autoscale")


def answer(data: QuestionData, result: Answer) -> None:
    """Fit by swarm size at both levels and by m; target BPB by family and by solver."""
    curves = _curves(data)
    downstream = _downstream(data)
    solvers = _solvers(data)
    by_domains = _curves_by_domains(data)
    result.table("fit", curves)
    result.table("downstream", downstream)
    result.table("fit_by_domains", by_domains)
    result.table("bimix_autoscale_solvers", solvers)
    result.finish(
        {
            "fit": "mean over tasks of the Pearson correlation on held-out runs",
            **{level: _summary(curves, downstream, level) for level in LEVELS},
            "best_family_by_domains": _best_by_domains(by_domains),
            "best_solver": {
                row["family"]: min(SOLVERS, key=lambda solver: row[solver])
                for row in solvers.to_dict("records")
            },
        }
    )


def fit_curve(
    swarm: SwarmTable, sizes: Iterable[int], *, held_out: int, seeds: Iterable[int]
) -> pd.DataFrame:
    """Fit of every family for each size and seed.

    A seed sets ``held_out`` runs aside and draws each swarm from the runs that are left, the same
    ones for all families.
    """
    rows = []
    for seed in seeds:
        for size in sizes:
            if size > len(swarm) - held_out:
                raise OlmixError(
                    f"rq4: {size} runs to fit on, but {held_out} of {len(swarm)} are held out"
                )
            for family in FAMILIES:
                scored = validate(Method(family), swarm, held_out=held_out, seed=seed, size=size)
                rows.append(
                    {
                        "family": family,
                        "size": size,
                        "seed": seed,
                        "fit": scored.mean,
                        "fit_of_average": scored.average,
                    }
                )
    return pd.DataFrame(rows)


def solver_name(solver: Mapping[str, Any]) -> str:
    """What a proposer and its KL weight are called in the table."""
    return "exact-kl" if solver["proposer"] == "exact" and solver["kl"] else solver["proposer"]


def _curves(data: QuestionData) -> pd.DataFrame:
    settings = data.settings["rq4"]
    parts = []
    for level in LEVELS:
        part = fit_curve(
            data.table(level),
            settings["sizes"][level],
            held_out=settings["held_out"],
            seeds=range(data.settings["seeds"]),
        )
        parts.append(part.assign(level=level))
    return pd.concat(parts, ignore_index=True)


def _curves_by_domains(data: QuestionData) -> pd.DataFrame:
    """The fit on the largest m topics: sizes c(m+1), as many c as each pool has runs for."""
    held_out, counts = data.settings["rq4"]["held_out"], data.settings["rq2"]["domains"]
    parts = []
    for m in counts:
        swarm = data.table("topics" if m == max(counts) else f"topics-{m}")
        wanted = [(m + 1) * c for c in data.settings["rq2"]["multipliers"]]
        sizes = [size for size in wanted if size <= len(swarm) - held_out]
        if not sizes:
            raise OlmixError(
                f"rq4: with {held_out} of {len(swarm)} runs held out, none of the sizes "
                f"{wanted} for {m} domains is left; raise rq2.pool_multiplier"
            )
        part = fit_curve(swarm, sizes, held_out=held_out, seeds=range(data.settings["seeds"]))
        parts.append(part.assign(domains=m, multiplier=part["size"] // (m + 1)))
    return pd.concat(parts, ignore_index=True)


def _downstream(data: QuestionData) -> pd.DataFrame:
    """Target BPB of what each family proposes, by the solver the paper gives it."""
    measured, errors = data.averages("rq4-target"), data.errors("rq4-target")
    return pd.DataFrame(
        [
            {
                "level": level,
                "family": family,
                "solver": solver_name(FAMILY_SOLVERS[family]),
                "runs": len(data.table(level)),
                "target_bpb": measured[f"{level}-{family}"],
                "target_error": errors[f"{level}-{family}"],
                "predicted_bpb": data.proposal("rq4", f"{level}-{family}")["average"],
            }
            for level in LEVELS
            for family in FAMILIES
        ]
    )


def _solvers(data: QuestionData) -> pd.DataFrame:
    """Target BPB of BiMix and AutoScale under each solver: a row per family, a column per solver.

    The solver a family uses everywhere else is trained under the family's own name.
    """
    measured = data.averages("rq4-target")
    rows = []
    for family in _POWER_LAWS:
        own = solver_name(FAMILY_SOLVERS[family])
        names = {s: f"topics-{family}" if s == own else f"topics-{family}-{s}" for s in SOLVERS}
        rows.append({"family": family, **{s: measured[name] for s, name in names.items()}})
    return pd.DataFrame(rows)


def _summary(curves: pd.DataFrame, downstream: pd.DataFrame, level: str) -> dict[str, Any]:
    curves = curves[curves["level"] == level]
    target = downstream[downstream["level"] == level].set_index("family")["target_bpb"]
    fits = curves.groupby(["size", "family"])["fit"].agg(["mean", "min", "max"])
    return {
        "best_fit_by_size": {
            str(size): part["mean"].droplevel("size").idxmax()
            for size, part in fits.groupby(level="size")
        },
        "fit_at_largest": {
            family: row.to_dict() for family, row in fits.loc[curves["size"].max()].iterrows()
        },
        "lowest_target_bpb": target.idxmin(),
        "target_bpb": target.to_dict(),
        "target_bpb_above_best": (target - target.min()).to_dict(),
        "fit_against_target_bpb": _rank_correlation(fits, curves["size"].max(), target),
    }


def _rank_correlation(fits: pd.DataFrame, size: int, target: pd.Series) -> float | None:
    """Spearman of fit (at the largest size) and target BPB over families; None if one is flat."""
    best = fits.loc[size, "mean"].reindex(target.index)
    value = best.rank().corr(target.rank())
    return None if np.isnan(value) else float(value)


def _best_by_domains(frame: pd.DataFrame) -> dict[str, dict[str, str]]:
    """m -> swarm size -> the family that fits best there."""
    means = frame.groupby(["domains", "size", "family"])["fit"].mean()
    return {
        str(m): {
            str(size): values.droplevel(["domains", "size"]).idxmax()
            for size, values in part.groupby(level="size")
        }
        for m, part in means.groupby(level="domains")
    }
