"""Figures of RQ4: fit of the regression families, and BPB of what they propose."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.dots import bpb_dots, interval_of_means
from olmix.presentation.families import drawn_families, family_curves, family_legend
from olmix.presentation.style import PAGE_WIDTH

__all__ = ["fit_by_domains", "regression_models", "regression_models_sources"]


def regression_models(answer: Path) -> plt.Figure:
    """Regression families over topics: fit against swarm size (left), target BPB (right)."""
    return _families(answer, "topics")


def regression_models_sources(answer: Path) -> plt.Figure:
    """Regression families over sources: fit against swarm size (left), target BPB (right)."""
    return _families(answer, "sources")


def fit_by_domains(answer: Path) -> plt.Figure:
    """Fit against swarm size, a panel per number of domains."""
    frame = pd.read_csv(answer / "fit_by_domains.csv")
    counts = sorted(frame["domains"].unique())
    figure, axes = plt.subplots(
        1, len(counts), figsize=(PAGE_WIDTH, 2.4), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, m in zip(axes[0], counts, strict=True):
        part = frame[frame["domains"] == m]
        family_curves(axis, part, x="size", y="fit")
        axis.set_xticks(sorted(part["size"].unique()))
        axis.set_title(f"m = {m} domains")
        axis.set_xlabel("swarm size K (runs)")
    axes[0, 0].set_ylabel("regression fit (Pearson)")
    family_legend(figure, axes[0, 0])
    return figure


def _families(answer: Path, level: str) -> plt.Figure:
    curves = pd.read_csv(answer / "fit.csv")
    curves = curves[curves["level"] == level]
    proposed = pd.read_csv(answer / "downstream.csv")
    half = interval_of_means(answer, "downstream", "target_error")
    families = drawn_families(proposed)
    proposed = proposed[proposed["level"] == level].set_index("family")
    proposed = proposed.loc[[family.name for family in families]]
    figure, axes = plt.subplots(1, 2, figsize=(PAGE_WIDTH, 2.7), layout="constrained")
    family_curves(axes[0], curves, x="size", y="fit")
    axes[0].set_xticks(sorted(curves["size"].unique()))
    axes[0].set_xlabel("swarm size K (runs)")
    axes[0].set_ylabel("regression fit (Pearson)")
    bpb_dots(
        axes[1],
        [family.label.replace(" ", "\n") for family in families],
        proposed["target_bpb"],
        half,
        colours=[family.colour for family in families],
        markers=[family.marker for family in families],
    )
    axes[1].tick_params(axis="x", labelsize=6)
    axes[1].set_ylabel("average BPB of the target")
    axes[1].set_xlabel(f"regression family, K = {proposed['runs'].iloc[0]}")
    family_legend(figure, axes[0])
    return figure
