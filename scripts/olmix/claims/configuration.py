"""What is measured for the claims about configuring a mixing method (§3.3, RQ1 to RQ7)."""

import numpy as np
import pandas as pd

from olmix.claims.evidence import Evidence, Measured, NotMeasured
from olmix.claims.rules import Estimate
from olmix.questions.rq3.plan import PRIORS, swarm_name
from olmix.questions.rq5.plan import GRANULARITIES
from olmix.questions.rq6.plan import APPROACHES
from olmix.regressors import FAMILIES
from olmix.regressors.correlation import resample, spearman_by_output
from olmix.regressors.surrogate import pearson_by_output

__all__ = ["MEASURES"]

SMALLEST_PROXY = "1m"
BEST_FAMILY, LATE_FAMILY = "log_linear", "lightgbm"
# The families that fit something: search takes the best run.
REGRESSIONS = ("log_linear", "bimix", "autoscale", "gaussian_process", "lightgbm")
# Domains that help most: those most above their natural share where k is largest.
HELPFUL_DOMAINS = 3


def proxy_size(evidence: Evidence) -> Measured:
    """C01: Spearman of each proxy size with the target, bootstrapped over the mixes."""
    if not evidence.has("rq1", "proxy_size"):
        raise NotMeasured("no models of other sizes at this scale")
    points = evidence.table("rq1", "proxy_size")
    proxies = points.pivot(index="run", columns="size", values="proxy_bpb")
    target = points.groupby("run")["target_bpb"].first().reindex(proxies.index).to_numpy()
    sizes, values = list(proxies.columns), proxies.to_numpy()
    if SMALLEST_PROXY not in sizes or len(sizes) < 2:
        raise NotMeasured(f"no {SMALLEST_PROXY} proxies beside larger ones")
    smallest = sizes.index(SMALLEST_PROXY)
    others = [i for i in range(len(sizes)) if i != smallest]

    def correlations(rows: np.ndarray) -> np.ndarray:
        return spearman_by_output(values[rows], np.repeat(target[rows, None], len(sizes), axis=1))

    found = correlations(np.arange(len(target)))
    replicates = resample(correlations, len(target), seed=0)
    lead = replicates[:, others].min(1) - replicates[:, smallest]
    return {
        "larger_proxies": [
            evidence.resampled(found[i], replicates[:, i], sizes[i]) for i in others
        ],
        "lead_over_1m": [evidence.resampled(found[others].min() - found[smallest], lead)],
    }


def swarm_size(evidence: Evidence) -> Measured:
    """C02: errors by multiplier c and number of domains m, seed by seed."""
    frame = evidence.table("rq2", "swarm_size_proposals")
    if not (frame["multiplier"] >= 3).any() or not (frame["multiplier"] == 1).any():
        raise NotMeasured("no swarms of both c = 1 and c ≥ 3")
    left, explained = [], []
    for _, part in frame.groupby("seed"):
        table = part.pivot(index="domains", columns="multiplier", values="error")
        left.append(table.loc[:, table.columns >= 3].to_numpy().mean() / table[1].mean())
        explained.append(_by_multiplier(table) - _by_multiplier(table.T))
    return {
        "error_left": [evidence.over_seeds(left)],
        "one_curve": [evidence.over_seeds(explained)],
    }


def _by_multiplier(table: pd.DataFrame) -> float:
    """The share of the variance of a table that lies between its columns."""
    values = table.to_numpy()
    return float(((values.mean(0) - values.mean()) ** 2).mean() / values.var())


def swarm_distribution(evidence: Evidence) -> Measured:
    """C03: sparse against dense, BPB by target runs, fit by the held-out mixes."""
    frame = evidence.table("rq3", "swarm_distribution").set_index(["level", "distribution"])
    replicates = evidence.table("rq3", "fit_resampled")
    measured: Measured = {}
    for level, better, worse in (("topics", "sparse", "dense"), ("sources", "dense", "sparse")):
        good, bad = frame.loc[(level, better)], frame.loc[(level, worse)]
        columns = [f"{level}/{swarm_name(level, kind)}" for kind in (better, worse)]
        measured[f"{level}_bpb"] = [
            evidence.between_runs("rq3", bad["measured_bpb"] - good["measured_bpb"])
        ]
        difference = replicates[columns[0]] - replicates[columns[1]]
        measured[f"{level}_fit"] = [evidence.resampled(good["fit"] - bad["fit"], difference)]
    return measured


def dirichlet_priors(evidence: Evidence) -> Measured:
    """C04: target runs of the mixes from swarms around three priors."""
    bpb = evidence.table("rq3", "dirichlet_priors").set_index("prior")["measured_bpb"]
    missing = set(PRIORS) - set(bpb.index)
    if missing:
        raise NotMeasured(f"no swarm around the {min(missing)} prior")
    percent = 100 / bpb["natural"]
    return {
        "weak_worse": [
            evidence.between_runs("rq3", bpb["weak"] - bpb[other], f"over {other}")
            for other in ("natural", "strong")
        ],
        "strong_close": [
            evidence.between_runs("rq3", percent * (bpb["strong"] - bpb["natural"]), unit=percent)
        ],
    }


def regression_fit(evidence: Evidence) -> Measured:
    """C05: fit of log-linear against every other family, once swarms are large enough."""
    fits = _topic_fits(evidence)
    domains = evidence.table("rq4", "fit_by_domains")["domains"].max()
    fits = fits[fits["size"] >= 3 * (domains + 1)]
    if fits.empty:
        raise NotMeasured(f"no swarm of 3(m+1) = {3 * (domains + 1)} runs")
    others = [family for family in fits["family"].unique() if family != BEST_FAMILY]
    pairs = [(BEST_FAMILY, other, f"over {other}") for other in others]
    return {"best_fit": _fit_differences(evidence, fits, pairs)}


def late_family(evidence: Evidence) -> Measured:
    """C06: how far LightGBM is behind the other regressions at equal runs."""
    fits = _topic_fits(evidence)
    pairs = [(other, LATE_FAMILY, other) for other in REGRESSIONS if other != LATE_FAMILY]
    return {"behind_at_equal_runs": _fit_differences(evidence, fits, pairs)}


def _topic_fits(evidence: Evidence) -> pd.DataFrame:
    """Fits of the paper's families over topics: claims are about those."""
    fits = evidence.table("rq4", "fit")
    ours = [family.name for family in FAMILIES.values() if family.ours]
    return fits[(fits["level"] == "topics") & ~fits["family"].isin(ours)]


def _fit_differences(
    evidence: Evidence, fits: pd.DataFrame, pairs: list[tuple[str, str, str]]
) -> list[Estimate]:
    """For each (one, other, label): fit of one minus the other's, mean over sizes, by seed."""
    means = fits.pivot_table(index="seed", columns="family", values="fit")
    return [evidence.over_seeds(means[one] - means[other], label) for one, other, label in pairs]


def regression_bpb(evidence: Evidence) -> Measured:
    """C07: target runs of what each family proposes."""
    frame = evidence.table("rq4", "downstream")
    bpb = frame[frame["level"] == "topics"].set_index("family")["target_bpb"]
    return {"lowest_bpb": _others_above(evidence, "rq4", bpb, BEST_FAMILY)}


def _others_above(evidence: Evidence, question: str, bpb: pd.Series, best: str) -> list[Estimate]:
    """How much higher every other target mix of a question is than ``best``."""
    return [
        evidence.between_runs(question, value - bpb[best], str(name))
        for name, value in bpb.items()
        if name != best
    ]


def granularity(evidence: Evidence) -> Measured:
    """C08: target runs, and fit to the average BPB of the held-out mixes."""
    bpb = evidence.table("rq5", "granularity").set_index("granularity")["target_bpb"]
    held_out = evidence.table("rq5", "held_out")
    predicted = held_out[list(GRANULARITIES)].to_numpy()
    measured = np.repeat(held_out[["measured_bpb"]].to_numpy(), len(GRANULARITIES), axis=1)

    def fits(rows: np.ndarray) -> np.ndarray:
        return pearson_by_output(predicted[rows], measured[rows])

    found = fits(np.arange(len(held_out)))
    replicates = resample(fits, len(held_out), seed=0)

    def above(one: str, other: str) -> Estimate:
        i, j = GRANULARITIES.index(one), GRANULARITIES.index(other)
        difference = replicates[:, i] - replicates[:, j]
        return evidence.resampled(found[i] - found[j], difference, f"{one} over {other}")

    return {
        "task_bpb": _others_above(evidence, "rq5", bpb, "task"),
        "fit_rises": [above("task", "aggregated")],
        "fit_never_falls": [above("family", "aggregated"), above("task", "family")],
    }


def repetition_constraint(evidence: Evidence) -> Measured:
    """C09: what each of three places for the constraint repeats, and its target runs."""
    frame = evidence.table("rq6", "repetition_constraints").set_index("approach")
    frame = frame.loc[list(APPROACHES)]  # the paper's: there may be one of ours
    factor = evidence.summary("rq6")["repetition_factor"]
    repeats = frame["largest_repetition"] / factor
    return {
        "better_than_others": _others_above(
            evidence, "rq6", frame["target_bpb"], "constrained-optimization"
        ),
        "optimization_keeps_k": [evidence.exact(repeats["constrained-optimization"])],
        "swarm_breaks_k": [evidence.exact(repeats["constrained-swarm"])],
    }


def repetition_factor(evidence: Evidence) -> Measured:
    """C10: proposed weights against k of the domains that help most."""
    frame = evidence.table("rq6", "weights")
    weights = frame.pivot(index="factor", columns="domain", values="weight").sort_index()
    caps = frame.pivot(index="factor", columns="domain", values="cap").sort_index()
    # A cap is k·N/R, so a row of finite ones is in proportion to the domains' tokens.
    natural = caps.iloc[0] / caps.iloc[0].sum()
    above = (weights.iloc[-1] / natural).sort_values(ascending=False)
    helpful = weights[above.index[:HELPFUL_DOMAINS]]
    whole, steps = helpful.iloc[-1] - helpful.iloc[0], helpful.diff().iloc[1:]
    return {
        "weights_rise": [evidence.exact(change, name) for name, change in whole.items()],
        "weights_never_fall": [
            evidence.exact(change, f"{name} to k = {factor:g}")
            for factor, row in steps.iterrows()
            for name, change in row.items()
        ],
    }


def solvers(evidence: Evidence) -> Measured:
    """C11: measured (target runs) and predicted BPB of each solver's mix."""
    frame = evidence.table("rq7", "solvers").set_index(["level", "solver"])
    predicted = frame["predicted_bpb"]
    return {
        "kl_measured_lowest": _others_above(
            evidence, "rq7", frame["measured_bpb"].loc["topics"], "kl-0.05"
        ),
        "exact_predicted_lowest": [
            evidence.exact(value - predicted[level, "exact"], f"{level} {solver}")
            for (level, solver), value in predicted.items()
            if solver != "exact"
        ],
    }


MEASURES = {
    "C01": proxy_size,
    "C02": swarm_size,
    "C03": swarm_distribution,
    "C04": dirichlet_priors,
    "C05": regression_fit,
    "C06": late_family,
    "C07": regression_bpb,
    "C08": granularity,
    "C09": repetition_constraint,
    "C10": repetition_factor,
    "C11": solvers,
}
