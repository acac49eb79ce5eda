"""Captions of RQ4: which regression family?"""

from pathlib import Path

import pandas as pd

from olmix.files import read_json
from olmix.presentation.dots import interval_of_means
from olmix.presentation.wording import captions_by_level, listed, lowest, named, spoken

__all__ = ["TABLES", "finding", "fit_by_domains", "regression_models", "regression_models_sources"]

TABLES = {
    "fit": "Fit of every family for each swarm size and seed, over topics and sources.",
    "downstream": "Target BPB and predicted BPB of the mix each family proposes.",
    "fit_by_domains": "Fit of every family for the m largest topics, by swarm size and seed.",
    "bimix_autoscale_solvers": "Target BPB of BiMix and AutoScale under each solver.",
}


def finding(answer: Path) -> str:
    """Which family fits and proposes best over topics."""
    return _level(answer, "topics")


def fit_by_domains(answer: Path) -> str:
    """What the figure of the fit for every number of domains shows."""
    summary = read_json(answer / "summary.json")
    best = listed(
        f"{spoken(list(sizes.values())[-1])} (m = {m}, K = {list(sizes)[-1]})"
        for m, sizes in summary["best_family_by_domains"].items()
    )
    shown = "Fit against swarm size for the m largest topics."
    return f"{shown} Highest mean at the largest swarm: {best}."


def _level(answer: Path, level: str) -> str:
    found = read_json(answer / "summary.json")[level]
    fits = {family: values["mean"] for family, values in found["fit_at_largest"].items()}
    fits = dict(sorted(fits.items(), key=lambda item: -item[1]))
    best = listed(
        f"{spoken(family)} (K = {listed(part.index)})"
        for family, part in pd.Series(found["best_fit_by_size"]).groupby(
            found["best_fit_by_size"], sort=False
        )
    )
    target, above = found["target_bpb"], found["target_bpb_above_best"]
    half = interval_of_means(answer, "downstream", "target_error")
    return (
        f"Over {level}, the highest mean fit is that of {best}; "
        f"at the largest swarm: {named(fits)}. "
        f"{_ours(found['fit_of_ours'])}"
        f"Of the target BPB of their mixes, {lowest(target, half)}; the least is "
        f"{min(target.values()):.3f}, and log-linear's is {above['log_linear']:.3f} above it."
    )


def _ours(fits: dict[str, dict[str, float]]) -> str:
    """What the families that are not the paper's fit, from the smallest swarm to the largest."""
    said = listed(
        f"{spoken(family)} {min(sizes.items(), key=lambda item: int(item[0]))[1]:.3f} at the "
        f"smallest and {max(sizes.items(), key=lambda item: int(item[0]))[1]:.3f} at the largest"
        for family, sizes in fits.items()
    )
    return f"Ours, not the paper's: {said}. "


regression_models, regression_models_sources = captions_by_level(
    "Fit against swarm size (left), target BPB of the mix (right).", _level
)
