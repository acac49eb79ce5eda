"""Figures of §5.2: what the theorems' terms say about the performance of mixture reuse."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.presentation.bars import seed_bars
from olmix.presentation.style import COLUMN_WIDTH, PAGE_WIDTH, PALETTE
from olmix.presentation.wording import domain_label, spoken
from olmix.updates.strategies import (
    CONSTRUCTED,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
)

__all__ = [
    "kappa_reduction",
    "partial_reuse_coupling",
    "reuse_gap",
    "reused_vs_optimal",
    "update_shift",
]

# Domains shown: the largest reused ratios, the largest drops of κ.
REUSED_SHOWN, KAPPA_SHOWN = 7, 6
MARKERS = {strategy.short: strategy.marker for strategy in CONSTRUCTED}
TERMS = {
    "shift": "weight moved, 1 − ρ*",
    "reuse_gap": "reuse gap",
    "gap": "performance gap\n(% of BPB)",
    "kappa": r"coupling $\kappa$",
}
REUSING = {strategy.name: strategy for strategy in (FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE)}


def reuse_gap(answer: Path) -> plt.Figure:
    """Performance gap against reuse gap: a line over the means, seeds as dots."""
    frame = pd.read_csv(answer / "reuse_gap.csv")
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.2, 2.6), layout="constrained")
    for (setting, part), colour in zip(frame.groupby("setting", sort=False), PALETTE, strict=False):
        means = part.groupby("mix", sort=False)[["reuse_gap", "gap"]].mean()
        ordered = means.sort_values("reuse_gap")
        axis.plot(ordered["reuse_gap"], ordered["gap"], color=colour, label=spoken(setting))
        axis.scatter(part["reuse_gap"], part["gap"], s=4, color=colour, alpha=0.5)
        for mix, row in means.iterrows():
            axis.scatter(row["reuse_gap"], row["gap"], s=22, color=colour, marker=MARKERS[mix])
    for strategy in CONSTRUCTED:
        axis.scatter([], [], s=22, color="#666666", marker=strategy.marker, label=strategy.label)
    axis.axhline(0, color="#666666", linewidth=0.6, linestyle=":")
    axis.set_xlabel(r"reuse gap $\|\tilde{p}_\mathrm{fix} - q^{*}_\mathrm{fix}\|$")
    axis.set_ylabel(TERMS["gap"])
    figure.legend(loc="outside right center", fontsize=6)
    return figure


def update_shift(answer: Path) -> plt.Figure:
    """1−ρ*, reuse gap and performance gap of each setting, R tight and relaxed."""
    frame = pd.read_csv(answer / "update_shift.csv")
    frame["setting"] = frame["setting"].map(spoken)
    frame["requested"] = "R " + frame["requested"]
    frame = frame.iloc[::-1]  # tight first: from the smaller shift to the larger
    colours = {"R tight": PALETTE[1], "R relaxed": PALETTE[0]}
    settings = list(dict.fromkeys(frame["setting"].iloc[::-1]))
    return _terms(frame, ("shift", "reuse_gap", "gap"), "setting", "requested", colours, settings)


def reused_vs_optimal(answer: Path) -> plt.Figure:
    """Reused and optimal ratios of the unaffected domains with the largest reused ones."""
    frame = pd.read_csv(answer / "reused_vs_optimal.csv")
    means = frame.groupby("domain", sort=False)["reused"].mean()
    shown = list(means.sort_values(ascending=False, kind="stable").index[:REUSED_SHOWN])
    long = frame[frame["domain"].isin(shown)].melt(
        ["domain", "seed"], ["reused", "optimal"], var_name="ratios", value_name="ratio"
    )
    figure, axis = plt.subplots(figsize=(PAGE_WIDTH * 0.75, 2.6), layout="constrained")
    colours = {"reused": FULL_MIXTURE_REUSE.colour, "optimal": FULL_RECOMPUTATION.colour}
    seed_bars(
        axis, long, place="domain", series="ratios", value="ratio", colours=colours, places=shown
    )
    axis.set_xticks(range(len(shown)), map(domain_label, shown), rotation=30, ha="right")
    axis.set_ylabel("ratio among the\nunaffected domains")
    axis.set_ylim(bottom=0)
    axis.legend()
    return figure


def partial_reuse_coupling(answer: Path) -> plt.Figure:
    """Full and partial reuse: 1−ρ*, reuse gap, performance gap, κ."""
    frame = pd.read_csv(answer / "partial_reuse_coupling.csv")
    colours = {strategy.short: strategy.colour for strategy in REUSING.values()}
    frame["strategy"] = frame["strategy"].map({name: s.short for name, s in REUSING.items()})
    frame["all"] = ""
    return _terms(frame, tuple(TERMS), "all", "strategy", colours, [""])


def _terms(
    frame: pd.DataFrame,
    terms: tuple[str, ...],
    place: str,
    series: str,
    colours: dict[str, str],
    places: list[str],
) -> plt.Figure:
    """Draw a panel of bars for each term of the theorems."""
    figure, axes = plt.subplots(1, len(terms), figsize=(PAGE_WIDTH, 2.2), layout="constrained")
    for axis, term in zip(axes, terms, strict=True):
        seed_bars(
            axis, frame, place=place, series=series, value=term, colours=colours, places=places
        )
        axis.set_ylabel(TERMS[term])
        if places == [""]:
            axis.tick_params(axis="x", length=0)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=len(colours))
    return figure


def kappa_reduction(answer: Path) -> plt.Figure:
    """The unaffected domains whose recomputation lowers κ most, in percent of κ."""
    frame = pd.read_csv(answer / "kappa_reduction.csv")
    frame["share"] *= 100
    means = frame.groupby("domain", sort=False)["share"].mean()
    shown = means.sort_values(ascending=False, kind="stable").iloc[:KAPPA_SHOWN]
    places = np.arange(len(shown))[::-1]
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.3, 2.2), layout="constrained")
    axis.barh(places, shown, 0.7, color=PARTIAL_MIXTURE_REUSE.colour)
    for place, domain in zip(places, shown.index, strict=True):
        dots = frame.loc[frame["domain"] == domain, "share"]
        axis.scatter(dots, np.full(len(dots), place), s=6, color="#333333", zorder=3)
    axis.set_yticks(places, map(domain_label, shown.index))
    axis.set_xlabel(r"drop of $\kappa$ if recomputed too (% of $\kappa$)")
    axis.axvline(0, color="#666666", linewidth=0.6)
    return figure
