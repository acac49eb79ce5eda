"""Whether a measured law is like the runs it was measured on.

Two checks: what it says of runs it has not seen, and whether every regression family finds its runs
as hard to fit as the real ones, at every swarm size (RQ4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.measured.law import MeasuredLaw
from olmix.measured.measure import Measurement
from olmix.measured.noise import Noise
from olmix.measured.runs import ReleasedRuns
from olmix.regressors import FAMILIES
from olmix.regressors.surrogate import pearson_by_output
from olmix.regressors.validation import validate
from olmix.study.proposals import olmix_base
from olmix.tables import SwarmTable

__all__ = ["compare_fits", "on_measured", "score", "score_unseen"]


def score(
    predicted: np.ndarray, measured: np.ndarray, errors: Noise, alone: np.ndarray
) -> dict[str, float]:
    """Correlations with runs that a law has not seen, and its residuals over what it expects.

    ``deviation`` is the standard deviation of a task's residuals over ``errors``, mean over tasks.
    """
    average = pearson_by_output(predicted.mean(1)[:, None], measured.mean(1)[:, None])[0]
    standard = (measured - predicted) / errors.deviation(alone)
    return {
        "runs": len(measured),
        "pearson": float(pearson_by_output(predicted, measured).mean()),
        "pearson_of_average": float(average),
        "deviation": float(np.sqrt((standard**2).mean(0)).mean()),
    }


def score_unseen(measured: Measurement) -> pd.DataFrame:
    """Every form on runs of each swarm that it has not seen, a row each."""
    runs, form = measured.runs, measured.replicas[0].fitted.form
    rows = []
    for name, predicted in measured.unseen.items():
        for swarm in dict.fromkeys(runs.swarm):
            of = runs.swarm == swarm
            alone = form.alone(runs.mixes[of])
            found = score(predicted[of], runs.metrics[of], measured.errors, alone)
            rows.append({"form": name, "best": name == measured.best, "swarm": swarm, **found})
    return pd.DataFrame(rows)


def compare_fits(law: MeasuredLaw, runs: ReleasedRuns, settings: Mapping[str, Any]) -> pd.DataFrame:
    """RQ4's curves on real runs and on the law's runs over the same mixes, a row per size."""
    real = _table(runs, settings["swarm"])
    rows = []
    for family in (name for name, entry in FAMILIES.items() if not entry.ours):
        method = replace(olmix_base(), regressor=family, regressor_settings={})
        for size in settings["sizes"]:
            found: dict[str, list[float]] = {"real": [], "measured": []}
            for seed in range(settings["seeds"]):
                drawn = replace(real, metrics=_simulated(law, real, seed))
                for name, table in (("real", real), ("measured", drawn)):
                    scored = validate(
                        method, table, held_out=settings["held_out"], seed=seed, size=size
                    )
                    found[name].append(scored.mean)
            means = {name: float(np.mean(values)) for name, values in found.items()}
            rows.append({"family": family, "runs": size, **means})
    frame = pd.DataFrame(rows)
    return frame.assign(difference=frame["measured"] - frame["real"])


def on_measured(law: MeasuredLaw, domains: Sequence[str], mixes: np.ndarray) -> np.ndarray:
    """Mixes over some domains as mixes over those that a law was measured on, in its order."""
    known = law.fitted.form.domains
    strange = [name for name in domains if name not in known]
    if strange:
        raise OlmixError(f"the laws have no domain '{strange[0]}'")
    placed = np.zeros((len(mixes), len(known)))
    placed[:, [known.index(name) for name in domains]] = mixes
    return placed


def _table(runs: ReleasedRuns, swarm: str) -> SwarmTable:
    """One swarm again, over the domains that it has."""
    of = runs.swarm == swarm
    used = np.flatnonzero((runs.mixes[of] > 0).any(0))
    names = tuple(f"run-{number}" for number in range(of.sum()))
    domains = tuple(runs.domains[place] for place in used)
    return SwarmTable(names, domains, runs.mixes[of][:, used], runs.tasks, runs.metrics[of])


def _simulated(law: MeasuredLaw, table: SwarmTable, seed: int) -> np.ndarray:
    """The metrics of a table as the law's own runs would have them."""
    mixes = on_measured(law, table.domains, table.mixes)
    order = [law.tasks.index(task) for task in table.tasks]
    return law.observe(mixes, seed, noise=1.0, disturbance=0.0)[:, order]
