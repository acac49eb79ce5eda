"""RQ4: which regression family? Fit against swarm size, and BPB of what it proposes (App. RQ4)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.proposers.method import Method
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq4.plan import COMPARED, POWER_LAWS, SOLVERS, proposal_name
from olmix.regressors import FAMILIES
from olmix.regressors.validation import validate
from olmix.tables import SwarmTable

__all__ = ["answer", "fit_curve", "solver_name"]


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
            **{level: _summary(curves, downstream, level) for level in data.planned["levels"]},
            "best_family_by_domains": _best_by_domains(by_domains),
            "best_solver": {
                row["family"]: min(map(solver_name, SOLVERS), key=lambda solver: row[solver])
                for row in solvers.to_dict("records")
            },
        }
    )


def fit_curve(
    swarm: SwarmTable,
    sizes: Iterable[int],
    base: Method,
    *,
    held_out: int,
    seeds: Iterable[int],
) -> pd.DataFrame:
    """Fit of every family, all else as in ``base``, for each size and seed.

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
            for family in FAMILIES.values():
                method = replace(base, regressor=family.name)
                scored = validate(method, swarm, held_out=held_out, seed=seed, size=size)
                rows.append(
                    {
                        "family": family.name,
                        "size": size,
                        "seed": seed,
                        "fit": scored.mean,
                        "fit_of_average": scored.average,
                    }
                )
    return pd.DataFrame(rows)


def solver_name(solver: str) -> str:
    """What a solver is called in the tables: with a dash."""
    return solver.replace("_", "-")


def _curves(data: QuestionData) -> pd.DataFrame:
    settings = data.settings["rq4"]
    parts = []
    for level, swarm in data.planned["levels"].items():
        part = fit_curve(
            data.table(swarm),
            settings["sizes"][level],
            data.method,
            held_out=settings["held_out"],
            seeds=range(data.settings["seeds"]),
        )
        parts.append(part.assign(level=level))
    return pd.concat(parts, ignore_index=True)


def _curves_by_domains(data: QuestionData) -> pd.DataFrame:
    """The fit on the largest m topics: sizes c(m+1), as many c as each pool has runs for."""
    held_out, seeds = data.settings["rq4"]["held_out"], range(data.settings["seeds"])
    parts = []
    for m, pool in data.planned["pools"]:
        swarm = data.table(pool)
        wanted = [(m + 1) * c for c in data.settings["rq2"]["multipliers"]]
        sizes = [size for size in wanted if size <= len(swarm) - held_out]
        if not sizes:
            raise OlmixError(
                f"rq4: with {held_out} of {len(swarm)} runs held out, none of the sizes "
                f"{wanted} for {m} domains is left; raise rq2.pool_multiplier"
            )
        part = fit_curve(swarm, sizes, data.method, held_out=held_out, seeds=seeds)
        parts.append(part.assign(domains=m, multiplier=part["size"] // (m + 1)))
    return pd.concat(parts, ignore_index=True)


def _downstream(data: QuestionData) -> pd.DataFrame:
    """Target BPB of what each family proposes, by the solver the paper gives it."""
    target, levels = data.planned["target"], data.planned["levels"]
    measured, errors = data.averages(target), data.errors(target)
    return pd.DataFrame(
        [
            {
                "level": level,
                "family": family.name,
                "solver": solver_name(family.solver),
                "runs": len(data.table(levels[level])),
                "target_bpb": measured[proposal_name(level, family.name)],
                "target_error": errors[proposal_name(level, family.name)],
                "predicted_bpb": _predicted(data, proposal_name(level, family.name)),
            }
            for level in levels
            for family in COMPARED
        ]
    )


def _predicted(data: QuestionData, proposal: str) -> float:
    return data.proposal("rq4", proposal)["average"]


def _solvers(data: QuestionData) -> pd.DataFrame:
    """Target BPB of BiMix and AutoScale, a row each, under each solver, a column each."""
    measured = data.averages(data.planned["target"])
    return pd.DataFrame(
        [
            {
                "family": family.name,
                **{
                    solver_name(solver): measured[proposal_name("topics", family.name, solver)]
                    for solver in SOLVERS
                },
            }
            for family in POWER_LAWS
        ]
    )


def _of_the_paper(curves: pd.DataFrame) -> pd.DataFrame:
    """The rows of the paper's families."""
    return curves[curves["family"].isin([family.name for family in COMPARED])]


def _summary(curves: pd.DataFrame, downstream: pd.DataFrame, level: str) -> dict[str, Any]:
    every = curves[curves["level"] == level]
    curves = _of_the_paper(every)
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
        "fit_of_ours": _fit_of_ours(every),
        "lowest_target_bpb": target.idxmin(),
        "target_bpb": target.to_dict(),
        "target_bpb_above_best": (target - target.min()).to_dict(),
        "fit_against_target_bpb": _rank_correlation(fits, curves["size"].max(), target),
    }


def _fit_of_ours(curves: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Our family -> swarm size -> its mean fit."""
    means = curves.groupby(["family", "size"])["fit"].mean()
    return {
        family.name: {str(size): float(fit) for size, fit in means[family.name].items()}
        for family in FAMILIES.values()
        if family.ours
    }


def _rank_correlation(fits: pd.DataFrame, size: int, target: pd.Series) -> float | None:
    """Spearman of fit (at the largest size) and target BPB over families; None if one is flat."""
    best = fits.loc[size, "mean"].reindex(target.index)
    value = best.rank().corr(target.rank())
    return None if np.isnan(value) else float(value)


def _best_by_domains(frame: pd.DataFrame) -> dict[str, dict[str, str]]:
    """m -> swarm size -> the family of the paper that fits best there."""
    means = _of_the_paper(frame).groupby(["domains", "size", "family"])["fit"].mean()
    return {
        str(m): {
            str(size): values.droplevel(["domains", "size"]).idxmax()
            for size, values in part.groupby(level="size")
        }
        for m, part in means.groupby(level="domains")
    }
