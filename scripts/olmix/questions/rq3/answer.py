"""RQ3: sparse or dense swarms, and around which prior? (§3.3.1; App. RQ3)."""

from typing import Any

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.held_out import Fit, fits, join_runs
from olmix.questions.rq3.plan import DISTRIBUTIONS, LEVELS, PRIORS, proposal_name
from olmix.regressors.correlation import interval

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Target BPB of each swarm's mix, and its model's fit around the optima of its level."""
    fit = {level: _level_fits(data, level) for level in LEVELS}
    swarms, prior_swarms = data.planned["swarms"], data.planned["priors"]
    target, prior_target = data.planned["target"], data.planned["prior_target"]
    measured, errors = data.averages(target), data.errors(target)
    distributions = pd.DataFrame(
        [
            {
                "level": level,
                "distribution": kind,
                "measured_bpb": measured[proposal_name(level, kind)],
                "measured_error": errors[proposal_name(level, kind)],
                **_fit(fit[level][swarms[level][kind]]),
            }
            for level in LEVELS
            for kind in DISTRIBUTIONS
        ]
    )
    # The main swarm is the one around the natural mix.
    main = proposal_name("topics", "sparse")
    measured = data.averages(prior_target) | {"natural": measured[main]}
    errors = data.errors(prior_target) | {"natural": errors[main]}
    priors = pd.DataFrame(
        [
            {
                "prior": prior,
                "measured_bpb": measured[prior],
                "measured_error": errors[prior],
                **_fit(fit["topics"][prior_swarms[prior]]),
            }
            for prior in PRIORS
        ]
    )
    result.table("swarm_distribution", distributions)
    result.table("dirichlet_priors", priors)
    result.table("fit_by_task", _by_task(fit))
    result.table("fit_resampled", _resampled(fit))
    result.finish(
        {
            "distributions": _distribution_summary(distributions, fit, swarms),
            "priors": _prior_summary(priors, fit["topics"], prior_swarms),
        }
    )


def _level_fits(data: QuestionData, level: str) -> dict[str, Fit]:
    """Fit of every swarm of a level, by swarm, on the mixes around its sparse and dense optima."""
    tests = [data.table(data.planned["around"][level][kind]) for kind in DISTRIBUTIONS]
    swarms = list(data.planned["swarms"][level].values())
    if level == "topics":
        swarms += data.planned["priors"].values()
    method = data.method
    models = {
        swarm: method.fit(data.table(swarm), data.families) for swarm in dict.fromkeys(swarms)
    }
    return fits(models, join_runs(tests))


def _fit(fit: Fit) -> dict[str, float]:
    return {"fit": fit.mean, "fit_low": fit.low, "fit_high": fit.high}


def _by_task(fit: dict[str, dict[str, Fit]]) -> pd.DataFrame:
    """The correlations behind every mean: a row per level, swarm and task."""
    return pd.DataFrame(
        [
            {"level": level, "swarm": swarm, "task": task, "fit": value}
            for level, swarms in fit.items()
            for swarm, found in swarms.items()
            for task, value in found.by_task.items()
        ]
    )


def _resampled(fit: dict[str, dict[str, Fit]]) -> pd.DataFrame:
    """The mean fit on each bootstrap resample of the held-out mixes: a column per level/swarm.

    Rows are the same resamples for all swarms of a level, so differences of columns are paired.
    """
    return pd.DataFrame(
        {
            f"{level}/{swarm}": found.resampled
            for level, swarms in fit.items()
            for swarm, found in swarms.items()
        }
    )


def _difference(one: Fit, other: Fit) -> dict[str, Any]:
    """How much better ``one`` fits than ``other``, with an interval over the held-out mixes."""
    low, high = interval(one.resampled - other.resampled)
    return {"difference": one.mean - other.mean, "interval": [float(low), float(high)]}


def _distribution_summary(
    frame: pd.DataFrame, fit: dict[str, dict[str, Fit]], swarms: dict[str, dict[str, str]]
) -> dict[str, Any]:
    summary = {}
    for level, part in frame.groupby("level", sort=False):
        part = part.set_index("distribution")
        sparse, dense = (fit[level][swarms[level][kind]] for kind in DISTRIBUTIONS)
        bpb = part["measured_bpb"]
        summary[level] = {
            "lower_bpb": bpb.idxmin(),
            "better_fit": part["fit"].idxmax(),
            "sparse_minus_dense_bpb": bpb["sparse"] - bpb["dense"],
            "sparse_minus_dense_fit": _difference(sparse, dense),
        }
    return summary


def _prior_summary(
    frame: pd.DataFrame, fit: dict[str, Fit], swarms: dict[str, str]
) -> dict[str, Any]:
    frame = frame.set_index("prior")
    natural, bpb = fit[swarms["natural"]], frame["measured_bpb"]
    return {
        "lowest_bpb": bpb.idxmin(),
        "best_fit": frame["fit"].idxmax(),
        "against_natural": {
            prior: {
                "bpb": bpb[prior] - bpb["natural"],
                "fit": _difference(fit[swarms[prior]], natural),
            }
            for prior in PRIORS[1:]
        },
    }
