"""Figures of the released swarms: the paper's own, redrawn from its own proxy runs."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.mix import Mix
from olmix.presentation.dots import bpb_dots
from olmix.presentation.errors_by_size import error_curves
from olmix.presentation.families import family_curves
from olmix.presentation.proposal import coefficient_map, kl_curves
from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH
from olmix.presentation.wording import domain_label
from olmix.questions.rq6 import figures as rq6
from olmix.questions.rq7.plan import label
from olmix.regressors import FAMILIES
from olmix.regressors.surrogate import Surrogate

__all__ = [
    "coefficients",
    "final_mixes",
    "kl_sensitivity",
    "laws",
    "regression_models",
    "repetition_factor",
    "solvers",
    "swarm_size",
]

PAPER_FIT, PAPER_KL = 0.80, 0.05
# Of a comparison the domains with the largest weights, ours or the paper's, are shown.
MOST_DOMAINS = 22
# Errors of proposed mixes are shown up to swarms of this many times m + 1 runs.
MOST_RUNS = 6


def regression_models(results: Path) -> plt.Figure:
    """RQ4: fit against swarm size for the six families, the paper's 0.80 marked."""
    fits = pd.read_csv(results / "published_table" / "regression.csv")
    if fits.empty:
        return _absent("the DCLM swarm")
    frame = fits[fits["kind"] == "sizes"]
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.35, 2.5), layout="constrained")
    unregularised = frame["family"] == "log_linear_plain"
    family_curves(axis, frame[~unregularised], x="runs", y="fit")
    plain = frame[unregularised].groupby("runs")["fit"].mean()
    axis.plot(
        plain.index, plain, color=FAMILIES["log_linear"].colour, linestyle=":", linewidth=1,
        label="log-linear,\nunregularised",
    )  # fmt: skip
    largest = frame["runs"].max()
    splits = fits[(fits["kind"] == "splits") & (fits["family"] == "log_linear")]["fit"]
    low, high = splits.quantile([0.05, 0.95])
    axis.vlines(largest + 2, low, high, color="black", linewidth=1,
                label=f"log-linear, 90 % of\n{len(splits)} held-out sets")  # fmt: skip
    axis.plot([largest + 2], [PAPER_FIT], marker="*", markersize=7, color="black", linestyle="none",
              label="paper, log-linear")  # fmt: skip
    axis.set_xticks(sorted(frame["runs"].unique()))
    axis.set_xlabel("swarm size K (runs)")
    axis.set_ylabel("regression fit (Pearson)")
    figure.legend(loc="outside right center", fontsize=6)
    return figure


def laws(results: Path) -> plt.Figure:
    """Every family on every released swarm: fit of unseen runs against c, a panel a swarm."""
    fits = pd.read_csv(results / "published_table" / "laws.csv")
    if fits.empty:
        return _absent("every swarm large enough")
    swarms = [part for _, part in fits.groupby("swarm", sort=False)]
    figure, axes = plt.subplots(
        1, len(swarms), figsize=(PAGE_WIDTH, 2.6), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, part in zip(axes[0], swarms, strict=True):
        for family in (known for known in FAMILIES.values() if known.name in set(part["family"])):
            rows = part[part["family"] == family.name]
            reach = [rows["fit"] - rows["fit_low"], rows["fit_high"] - rows["fit"]]
            axis.errorbar(
                rows["c"], rows["fit"], yerr=reach, color=family.colour, marker=family.marker,
                markersize=3, linewidth=1, elinewidth=0.6,
                linestyle="--" if family.ours else "-",
                label=f"{family.label} (ours)" if family.ours else family.label,
            )  # fmt: skip
        axis.set_xticks(sorted(fits["c"].unique()))
        name = part["swarm"].iloc[0].replace("_", " ")
        axis.set_title(f"{name}, {part['domains'].iloc[0]} domains")
        axis.set_xlabel("c, for K = c(m + 1) runs")
    axes[0, 0].set_ylabel("regression fit (Pearson)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def swarm_size(results: Path) -> plt.Figure:
    """RQ2: error of the authors' own mixes against c, a panel for each law that judges them."""
    errors = pd.read_csv(results / "published_table" / "swarm_size.csv")
    if errors.empty:
        return _absent("the DCLM swarm, or the authors' proposed mixes,")
    # Larger swarms were tried for few domains only; the table has them.
    errors = errors[errors["multiplier"] <= MOST_RUNS]
    parts = [part for _, part in errors.groupby("law", sort=False)]
    figure, axes = plt.subplots(
        1, len(parts), figsize=(COLUMN_WIDTH * len(parts), 2.3), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis, part in zip(axes[0], parts, strict=True):
        error_curves(axis, part)
        axis.set_title(f"judged by {FAMILIES[part['law'].iloc[0]].label}")
        axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("error of the proposed mix (BPB)")
    axes[0, 0].legend()
    return figure


def repetition_factor(results: Path) -> plt.Figure:
    """RQ6: weights of the largest topics against the repetition factor, R = 6T."""
    if not (results / "published_design" / "weights.csv").exists():
        return _absent("the DCLM swarm")
    return rq6.repetition_factor(results / "published_design")


def solvers(results: Path) -> plt.Figure:
    """RQ7: predicted BPB of the four solvers."""
    path = results / "published_design" / "solvers.csv"
    if not path.exists():
        return _absent("the DCLM swarm")
    frame = pd.read_csv(path)
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.2), layout="constrained")
    labels = [label(name) for name in frame["solver"]]
    bpb_dots(axis, labels, frame["predicted_bpb"])
    axis.set_ylabel("predicted BPB of the proxy")
    axis.set_xlabel("solver")
    return figure


def kl_sensitivity(results: Path) -> plt.Figure:
    """Predicted BPB and distance from the prior against the weight of the KL term."""
    path = results / "published_design" / "kl_sweep.csv"
    if not path.exists():
        return _absent("the DCLM swarm")
    frame = pd.read_csv(path)
    return kl_curves(
        frame["kl"].tolist(), frame["predicted_average"], frame["distance_from_prior"], PAPER_KL
    )


def coefficients(results: Path) -> plt.Figure:
    """The log-linear coefficients: what each topic does for each task."""
    path = results / "published_design" / "model.json"
    if not path.exists():
        return _absent("the DCLM swarm")
    law = Surrogate.load(path)
    # A log-linear law has its coefficients; the prior would matter for other families only.
    return coefficient_map(law, Mix(law.domains, np.full(len(law.domains), 1 / len(law.domains))))


def final_mixes(results: Path) -> plt.Figure:
    """Our weights with their intervals beside the paper's, a panel a comparison."""
    frame = pd.read_csv(results / "published_mixes" / "mixes.csv")
    if frame.empty:
        return _absent("every swarm the paper's mixes can be compared with")
    parts = [part for _, part in frame.groupby("comparison", sort=False)]
    shown = max(min(len(part), MOST_DOMAINS) for part in parts)
    columns, rows = min(len(parts), 2), -(-len(parts) // 2)
    size = (PAGE_WIDTH / 2 * columns, rows * (0.15 * shown + 0.9))
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[len(parts) :]:
        axis.set_visible(False)
    for axis, part in zip(axes.flat, parts, strict=False):
        _mix_panel(axis, part)
    axes[0, 0].legend(loc="lower right")
    return figure


def _mix_panel(axis: plt.Axes, part: pd.DataFrame) -> None:
    distance = 0.5 * part["difference"].abs().sum()
    largest = part[["ours", "paper"]].max(axis=1).sort_values().index[-MOST_DOMAINS:]
    part = part.loc[largest]
    rows = np.arange(len(part))
    if part["low"].notna().all():
        axis.hlines(rows, part["low"], part["high"], color=COLOURS["proposed"], alpha=0.35, lw=2.5,
                    label="ours, 90 % interval")  # fmt: skip
    axis.plot(part["ours"], rows, "o", markersize=3, color=COLOURS["proposed"], label="ours")
    axis.plot(part["paper"], rows, "x", markersize=3.5, color=COLOURS["held_out"], label="paper")
    sources = {name.partition(":")[0] for name in part["domain"]}
    axis.set_yticks(rows, map(domain_label, part["domain"]), fontsize=5.5)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    axis.set_xlim(left=0)
    axis.set_title(f"{part['comparison'].iloc[0]}\ntotal variation {distance:.3f}", fontsize=6.5)
    axis.set_xlabel("weight" if len(sources) > 1 else "ratio among these topics")


def _absent(what: str) -> plt.Figure:
    """A figure that says why there is none."""
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 1.0))
    axis.text(0.5, 0.5, f"not drawn: {what} is missing", ha="center", va="center")
    axis.set_axis_off()
    return figure
