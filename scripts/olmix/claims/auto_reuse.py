"""Auto partial reuse over replicas of a law: what it chose to recompute, and what that gained.

It is ours, so that no claim is about it; it answers whether κ finds by itself what the paper's
authors chose by hand (§5.2).
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from olmix.claims.evidence import Evidence
from olmix.claims.rules import Estimate
from olmix.paths import CONFIG
from olmix.questions.catalogue import plan_study
from olmix.questions.updates.answer import improvements
from olmix.questions.updates.auto_reuse import chosen_by_auto_reuse
from olmix.questions.updates.plan import MULTIPLIER
from olmix.study.jobs import Jobs
from olmix.study.scale import load_scale
from olmix.tables import read_swarm
from olmix.updates.strategies import (
    AUTO_PARTIAL_REUSE,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
)

__all__ = ["gains_and_choices", "in_one_line", "pooled_gains"]

_AUTO, _PARTIAL = AUTO_PARTIAL_REUSE.name, PARTIAL_MIXTURE_REUSE.name
_GAINS = [FULL_RECOMPUTATION.name, FULL_MIXTURE_REUSE.name, _PARTIAL, _AUTO]


def gains_and_choices(scale: str, results: Path) -> pd.DataFrame | None:
    """What strategies gain over natural (%), and what was chosen after each update, by seed.

    None where the study of updates was not run here at the scale.
    """
    if not (results / scale).is_dir():
        return None
    job = Jobs(plan_study(load_scale(CONFIG / "scales", scale), CONFIG.parent)).question("updates")
    files = job.input
    # Paths of jobs begin with the folder of results.
    choices = {Path(path).stem: results.parent / path for path in files["choices"]}
    (ratios,), (metrics,) = files["ratios"], files["metrics"]
    target = results.parent / ratios, results.parent / metrics
    if not all(path.is_file() for path in (*target, *choices.values())):
        return None
    table = read_swarm(*target)
    averages = dict(zip(table.runs, table.metrics.mean(1), strict=True))
    gains = improvements(averages, job.planned["chains"])
    gains = gains[gains["c"] == MULTIPLIER].pivot(
        index="seed", columns="strategy", values="improvement"
    )
    chosen = chosen_by_auto_reuse(job.planned, choices)
    stages = list(dict.fromkeys(chosen["stage"]))
    chosen = chosen.pivot(index="seed", columns="stage", values="chosen")[stages]
    return gains[_GAINS].join(chosen).reset_index().assign(scale=scale)


def pooled_gains(table: pd.DataFrame, confidence: float) -> Mapping[str, Estimate]:
    """Means over seeds as one over replicas: mean ± t·s, the rule of every verdict on this ground.

    ``auto`` is what it gains, ``above_partial`` what it gains more than partial reuse (percentage
    points), ``share`` what of full recomputation's gain it keeps.
    """
    means = table.groupby("scale")[_GAINS].mean()
    evidence = Evidence(Path(), confidence)
    return {
        "auto": evidence.over_draws(means[_AUTO].to_numpy()),
        "partial": evidence.over_draws(means[_PARTIAL].to_numpy()),
        "above_partial": evidence.over_draws((means[_AUTO] - means[_PARTIAL]).to_numpy()),
        "share": evidence.over_draws((means[_AUTO] / means[FULL_RECOMPUTATION.name]).to_numpy()),
    }


def in_one_line(table: pd.DataFrame, confidence: float) -> str:
    """The pooled gains, as `python -m olmix board` says them."""
    said = [
        f"{name.replace('_', ' ')} {found.value:.3g} ({found.low:.3g} to {found.high:.3g})"
        for name, found in pooled_gains(table, confidence).items()
    ]
    return f"auto reuse, over {table['scale'].nunique()} replicas: {', '.join(said)}\n"
