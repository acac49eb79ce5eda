"""The figures of one proposal: its fit, its mix, its coefficients, its KL sensitivity."""

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns

from olmix.mix import Mix
from olmix.presentation.style import COLOURS, COLUMN_WIDTH, PAGE_WIDTH, save, stamp, style
from olmix.proposers.proposal import Proposal
from olmix.proposers.sensitivity import SweepPoint
from olmix.regressors.surrogate import Surrogate, outputs_of, pearson_by_output
from olmix.tables import SwarmTable

__all__ = [
    "coefficient_map",
    "kl_curves",
    "plot_coefficients",
    "plot_fit",
    "plot_kl_sweep",
    "plot_mix",
]

_PANELS_A_ROW = 8


def plot_fit(
    path: str | Path,
    surrogate: Surrogate,
    train: SwarmTable,
    held_out: SwarmTable | None,
    families: dict[str, list[str]],
    note: str,
    unit: str = "BPB",
) -> None:
    """Predicted against measured BPB, one panel an output; held-out runs on top where there are."""
    groups = [("train", train)] + ([("held_out", held_out)] if held_out else [])
    points = [
        (name, surrogate.predict(t.mixes), outputs_of(t, surrogate.granularity, families)[2])
        for name, t in groups
    ]
    correlation = pearson_by_output(points[-1][1], points[-1][2])
    count = len(surrogate.outputs)
    columns = min(count, _PANELS_A_ROW)
    rows = -(-count // columns)
    with style():
        width = PAGE_WIDTH if count > 1 else COLUMN_WIDTH
        figure, axes = plt.subplots(
            rows, columns, figsize=(width, width / columns * rows * 1.15 + 0.4), squeeze=False
        )
        for index, axis in enumerate(axes.flat):
            if index >= count:
                axis.set_visible(False)
                continue
            for name, predicted, measured in points:
                axis.scatter(
                    measured[:, index],
                    predicted[:, index],
                    s=5 if name == "train" else 9,
                    color=COLOURS[name],
                    alpha=0.5 if name == "train" else 1.0,
                    linewidths=0,
                    label="fitted runs" if name == "train" else "held-out runs",
                )
            low, high = axis.get_xlim()
            axis.plot([low, high], [low, high], color="black", linewidth=0.5)
            title = _short(surrogate.outputs[index], 19)
            axis.set_title(f"{title}\nr = {correlation[index]:.2f}", fontsize=4.5, pad=2)
            axis.tick_params(labelsize=4.5, length=1.5, pad=1)
            axis.locator_params(nbins=3)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        _space_panels(figure, rows, columns)
        figure.legend(handles, labels, loc="upper right", ncols=2, fontsize=6)
        figure.supxlabel(f"measured {unit}", fontsize=7)
        figure.supylabel(f"predicted {unit}", fontsize=7)
        stamp(figure, note)
        save(figure, path)


def _space_panels(figure: plt.Figure, rows: int, columns: int) -> None:
    """Room around and between panels of fixed letters, without drawing them all to measure it."""
    width, height = figure.get_size_inches()
    left, right, bottom, top, across, down = 0.45, 0.05, 0.38, 0.38, 0.24, 0.36  # inches
    panel_width = (width - left - right - (columns - 1) * across) / columns
    panel_height = (height - bottom - top - (rows - 1) * down) / rows
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - top / height,
        wspace=across / panel_width, hspace=down / panel_height,
    )  # fmt: skip


def plot_mix(
    path: str | Path,
    proposal: Proposal,
    natural: Mix,
    intervals: dict[str, tuple[float, float]] | None,
    note: str,
) -> None:
    """The proposed weights against the natural ones, with caps and, if given, intervals."""
    order = np.argsort(proposal.mix.weights)
    names = [proposal.mix.names[i] for i in order]
    weights = proposal.mix.weights[order]
    rows = np.arange(len(names))
    with style():
        figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.25, 0.17 * len(names) + 0.9))
        axis.barh(rows + 0.2, weights, 0.4, color=COLOURS["proposed"], label="proposed")
        axis.barh(
            rows - 0.2,
            [natural[name] for name in names],
            0.4,
            color=COLOURS["natural"],
            label="natural",
        )
        if intervals:
            low, high = np.array([intervals[name] for name in names]).T
            # The interval need not contain the proposal; error bars may not be negative.
            errors = np.clip([weights - low, high - weights], 0, None)
            axis.errorbar(
                weights, rows + 0.2, xerr=errors, fmt="none", ecolor=COLOURS["interval"],
                elinewidth=0.6, capsize=1.2, label="bootstrap interval",
            )  # fmt: skip
        right = axis.get_xlim()[1]
        caps = [(row, proposal.caps[name]) for row, name in zip(rows, names, strict=True)]
        shown = [(row, cap) for row, cap in caps if cap is not None and cap <= right]
        if shown:
            y, x = zip(*shown, strict=True)
            axis.scatter(
                x, y, marker="|", s=28, color=COLOURS["cap"], linewidths=1.2, zorder=3,
                label="repetition cap",
            )  # fmt: skip
        axis.set_yticks(rows, [_short(name) for name in names])
        axis.set_ylim(-0.7, len(names) - 0.3)
        axis.set_xlim(0, right)
        axis.set_xlabel("weight in the mix (share of tokens)")
        axis.legend(loc="lower right")
        stamp(figure, note)
        save(figure, path)


def plot_coefficients(path: str | Path, surrogate: Surrogate, prior: Mix, note: str) -> None:
    """`coefficient_map` of a fitted model, with what it was fitted on said below."""
    with style():
        figure = coefficient_map(surrogate, prior)
        stamp(figure, note)
        save(figure, path)


def coefficient_map(surrogate: Surrogate, prior: Mix) -> plt.Figure:
    """What each domain does for each output, centred by output: blue lowers BPB.

    For a log-linear model these are its coefficients A; for another family, the slope of the
    prediction when weight moves from the prior to the domain.
    """
    values, label = coefficient_matrix(surrogate, prior)
    values = values - values.mean(1, keepdims=True)
    # Clip the colours, not the values: a few extreme coefficients would bleach all the others.
    limit = float(np.quantile(np.abs(values), 0.98)) or 1.0
    tasks, domains = values.shape
    figure, axis = plt.subplots(figsize=(0.17 * domains + 2.2, 0.13 * tasks + 1.3))
    sns.heatmap(
        values, ax=axis, cmap="RdBu_r", vmin=-limit, vmax=limit, linewidths=0.2,
        xticklabels=[_short(name) for name in surrogate.domains],
        yticklabels=[_short(name) for name in surrogate.outputs],
        cbar_kws={"label": label, "shrink": 0.6, "extend": "both"},
    )  # fmt: skip
    axis.tick_params(labelsize=5, length=0)
    axis.set_xlabel("domain")
    axis.set_ylabel("task" if surrogate.granularity == "task" else "output")
    return figure


def coefficient_matrix(surrogate: Surrogate, prior: Mix) -> tuple[np.ndarray, str]:
    """The (outputs, domains) matrix to show, and what its numbers are."""
    coefficients = getattr(surrogate.regressor, "coef_", None)
    if coefficients is not None:
        return coefficients, "coefficient, centred (log of the loss above c)"
    step = 0.05
    start = prior.aligned(surrogate.domains).weights
    corners = (1 - step) * start + step * np.eye(len(start))
    slopes = (surrogate.predict(corners) - surrogate.predict(start[None])).T / step
    return slopes, "slope of the loss, centred"


def plot_kl_sweep(
    path: str | Path, points: list[SweepPoint], chosen: float, note: str, unit: str = "BPB"
) -> None:
    """`kl_curves` of a sweep, the λ in use marked."""
    with style():
        figure = kl_curves(
            [point.kl for point in points],
            [_or_nan(point.proposal.average) for point in points],
            [point.distance for point in points],
            chosen,
            unit,
        )
        stamp(figure, note)
        save(figure, path)


def _or_nan(value: float | None) -> float:
    """A number that may be missing, for an axis that leaves gaps."""
    return math.nan if value is None else value


def kl_curves(
    weights: Sequence[float],
    averages: Sequence[float],
    distances: Sequence[float],
    chosen: float,
    unit: str = "BPB",
) -> plt.Figure:
    """Predicted average and distance from the prior against λ."""
    places = np.arange(len(weights))
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH, 2.2))
    axis.plot(places, averages, marker="o", markersize=3, color=COLOURS["proposed"])
    axis.set_xticks(places, [f"{weight:g}" for weight in weights])
    axis.set_xlabel("weight λ of the KL term")
    axis.set_ylabel(f"predicted average {unit}", color=COLOURS["proposed"])
    other = axis.twinx()
    other.plot(places, distances, marker="s", markersize=3, color=COLOURS["held_out"])
    other.set_ylabel("total variation from the prior", color=COLOURS["held_out"])
    other.set_ylim(0, None)
    other.spines["right"].set_visible(True)
    if chosen in weights:
        axis.axvline(list(weights).index(chosen), color="black", lw=0.5, ls=":")
    return figure


def _short(name: str, most: int = 26) -> str:
    """A label that fits: evaluation suffixes go, and of a long name the middle."""
    name = name.split("::")[0].removesuffix(":rc")
    if len(name) <= most:
        return name
    tail = most // 2
    return f"{name[: most - tail - 1]}…{name[-tail:]}"
