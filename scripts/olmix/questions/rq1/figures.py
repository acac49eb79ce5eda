"""Figure of RQ1: proxies of each size against the target."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from olmix.files import read_json
from olmix.presentation.style import COLOURS, COLUMN_WIDTH
from olmix.presentation.wording import size_label
from olmix.questions.rq1.answer import AVERAGE
from olmix.study.plan import TARGET

__all__ = ["proxy_size"]


def proxy_size(answer: Path) -> plt.Figure:
    """Average BPB of the target against the proxy's, a panel per proxy size."""
    points = pd.read_csv(answer / "proxy_size.csv")
    table = pd.read_csv(answer / "correlations.csv")
    table = table[table["output"] == AVERAGE].set_index("size")
    parameters = read_json(answer / "summary.json")["parameters"]
    columns = min(2, len(table))
    rows = -(-len(table) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(COLUMN_WIDTH, 1.5 * rows + 0.3), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[len(table) :]:
        axis.set_visible(False)
    for axis, (size, row) in zip(axes.flat, table.iterrows(), strict=False):
        pairs = points[points["size"] == size]
        axis.scatter(
            pairs["proxy_bpb"], pairs["target_bpb"], s=9, color=COLOURS["proposed"], alpha=0.7,
            linewidths=0,
        )  # fmt: skip
        axis.margins(0.08)
        axis.locator_params(nbins=4)
        rho = f"ρ = {row['spearman']:.2f} [{row['spearman_low']:.2f}, {row['spearman_high']:.2f}]"
        axis.set_title(f"{size_label(size, parameters)}: {rho}", fontsize=7)
    figure.supxlabel("average BPB of the proxy", fontsize=8)
    target = f" ({size_label(TARGET, parameters)})" if TARGET in parameters else ""
    figure.supylabel(f"average BPB of the target{target}", fontsize=8)
    return figure
