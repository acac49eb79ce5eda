"""Figure of the methods: what each proposes against what it cost."""

from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.presentation.style import COLOURS, COLUMN_WIDTH

__all__ = ["methods"]

_MARKERS = ("o", "s", "D", "^", "v")


def methods(answer: Path) -> plt.Figure:
    """Average BPB of the target against the number of proxy runs, a point per method.

    Methods may lie close together, so their names, runs and proxy sizes are beside the axes.
    """
    frame = pd.read_csv(answer / "methods.csv")
    natural = frame.loc[frame["method"] == "natural", "target_bpb"].iloc[0]
    points = frame[frame["method"] != "natural"].sort_values(["proxy_runs", "method"])
    figure, axis = plt.subplots(figsize=(COLUMN_WIDTH * 1.25, 2.2), layout="constrained")
    axis.axhline(natural, color=COLOURS["natural"], linestyle="--", label="natural: no runs")
    axis.errorbar(
        points["proxy_runs"], points["target_bpb"], points["target_error"], fmt="none", capsize=2,
        ecolor="#333333", elinewidth=0.8,
    )  # fmt: skip
    for row, marker in zip(points.itertuples(), cycle(_MARKERS), strict=False):
        axis.scatter(
            row.proxy_runs, row.target_bpb, s=24, zorder=3, marker=marker,
            color=COLOURS.get(row.method, COLOURS["proposed"]),
            label=f"{row.label}: {row.proxy_runs} runs of {row.proxy_size}",
        )  # fmt: skip
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlim(1, 10 ** (len(str(points["proxy_runs"].max()))))
    axis.margins(y=0.15)
    axis.set_xlabel("proxy runs")
    axis.set_ylabel("average BPB of the target")
    figure.legend(loc="outside right center", fontsize=6)
    return figure
