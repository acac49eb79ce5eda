"""One style for every figure: a paper column, colour-blind safe, fonts embedded."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from olmix.files import replacing

__all__ = ["COLOURS", "COLUMN_WIDTH", "PAGE_WIDTH", "PALETTE", "save", "stamp", "style"]

COLUMN_WIDTH = 3.4  # inches
PAGE_WIDTH = 7.0

# Okabe and Ito's colour-blind safe palette, for things that have no colour of their own (domains).
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")

# The same palette by what it stands for in every figure. Strategies and regression families have
# theirs where they are defined (olmix.updates.strategies, olmix.regressors).
COLOURS = {
    "natural": "#7f7f7f",
    "proposed": "#0072B2",
    "train": "#999999",
    "held_out": "#D55E00",
    "cap": "#CC79A7",
    "interval": "#000000",
    "olmix_base": "#0072B2",
    "regmix": "#D55E00",
    "data_mixing_laws": "#000000",
    "sparse": "#0072B2",
    "dense": "#E69F00",
}

_SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    # `save` measures a figure at the resolution that it writes: letters are hinted to its pixels.
    "figure.dpi": 200,
    "savefig.dpi": "figure",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "olmix",
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Draw without a screen, in the house style; the settings end with the block."""
    with mpl.rc_context(_SETTINGS):
        plt.switch_backend("agg")
        yield


def stamp(figure: plt.Figure, text: str, notice: str | None = None) -> None:
    """Say small under the lower right corner what made the figure (scale, data).

    A ``notice`` is what nobody may overlook: a bar over the whole figure, above everything.
    """
    figure.text(0.995, -0.01, text, ha="right", va="top", fontsize=5, color="#666666")
    if notice:
        bar = figure.text(
            0.5, 1.02, notice, ha="center", va="bottom", fontsize=8, weight="bold", color="#ffffff",
            bbox={"facecolor": "#D55E00", "edgecolor": "none", "pad": 2.5},
        )  # fmt: skip
        # So small that it does not make the figure wider.
        room = 0.97 * figure.bbox.width / bar.get_window_extent().width
        bar.set_fontsize(8 * min(1.0, room))


def save(figure: plt.Figure, path: str | Path) -> None:
    """Write ``path`` (.pdf) and a PNG beside it, the same bytes for the same figure."""
    path = Path(path)
    figure.draw_without_rendering()
    # Measured once: each savefig would lay out the whole figure for it again.
    inked = figure.get_tightbbox().padded(0.03)
    for target, metadata in (
        (path.with_suffix(".pdf"), {"CreationDate": None}),
        (path.with_suffix(".png"), {"Software": None}),
    ):
        with replacing(target) as temporary:
            figure.savefig(temporary, metadata=metadata, bbox_inches=inked)
    plt.close(figure)
