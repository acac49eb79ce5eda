"""Figures of RQ6: proposed weights against the repetition factor."""

from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.presentation.style import COLUMN_WIDTH, PALETTE
from olmix.presentation.wording import domain_label

__all__ = ["repetition_factor", "repetition_factor_all"]

TOP = 7
_LINES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D", "v")


def repetition_factor(answer: Path) -> plt.Figure:
    """Proposed weight against k of the domains with the largest weights."""
    return _weights(answer, TOP, width=COLUMN_WIDTH * 1.25, height=2.4)


def repetition_factor_all(answer: Path) -> plt.Figure:
    """Proposed weight against k of every domain."""
    domains = pd.read_csv(answer / "weights.csv")["domain"].nunique()
    return _weights(answer, domains, width=COLUMN_WIDTH * 1.5, height=max(2.4, 0.14 * domains))


def _weights(answer: Path, most: int, *, width: float, height: float) -> plt.Figure:
    """A line per domain over k, those with the largest weight at any k first."""
    frame = pd.read_csv(answer / "weights.csv")
    table = frame.pivot(index="factor", columns="domain", values="weight").sort_index()
    domains = table.max().sort_values(ascending=False, kind="stable").index[:most]
    # Factors are steps, not a length: infinity is one more of them.
    places = np.arange(len(table))
    labels = ["∞" if np.isinf(factor) else f"{factor:g}" for factor in table.index]
    figure, axis = plt.subplots(figsize=(width, height), layout="constrained")
    for number, (domain, colour, marker) in enumerate(
        zip(domains, cycle(PALETTE), cycle(_MARKERS), strict=False)
    ):
        axis.plot(
            places, table[domain], color=colour, marker=marker, markersize=3,
            linestyle=_LINES[number // len(PALETTE) % len(_LINES)],
            label=domain_label(domain),
        )  # fmt: skip
    axis.set_xticks(places, labels)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("repetition factor k")
    axis.set_ylabel("proposed weight")
    figure.legend(loc="outside right center", fontsize=6)
    return figure
