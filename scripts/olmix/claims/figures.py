"""The scoreboard as a picture: a row per claim, a column of verdicts per ground."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from olmix.claims.board import DEPENDS, SAME, with_interval
from olmix.claims.page import LABELS
from olmix.claims.rules import (
    NOT_DECIDABLE,
    NOT_MEASURED,
    NOT_REPRODUCED,
    REPRODUCED,
    VERDICTS,
)
from olmix.claims.settings import Claim
from olmix.presentation.style import PAGE_WIDTH

__all__ = ["board_of_grounds", "scoreboard"]

# Colour-blind safe (Okabe and Ito), and a symbol each.
COLOURS = {
    REPRODUCED: "#0072B2",
    NOT_REPRODUCED: "#D55E00",
    NOT_DECIDABLE: "#999999",
    NOT_MEASURED: "#FFFFFF",
}
MARKERS = {REPRODUCED: "o", NOT_REPRODUCED: "X", NOT_DECIDABLE: "D", NOT_MEASURED: "s"}
# Standings farther out are drawn at the edge.
EDGE = 3.0
_ROW_HEIGHT = 0.43  # inches
_FONT = 5.8
# Left edges of the columns, in inches, and how many characters fit.
_COLUMNS = {"id": (0.0, 4), "claim": (0.28, 46), "paper": (2.38, 27), "here": (3.68, 28)}
_AXIS = (4.85, 5.85)
# Where the verdict of the first ground stands, and how far on each other.
_VERDICT, _NEXT = 6.08, 0.27
# Where the first ground's verdict with its interval stands, and how far on each other.
_INTERVAL, _NEXT_INTERVAL = 3.80, 0.83
# Rows above the first claim, for titles and an axis or for titles alone, and below the last.
_ABOVE, _TITLES, _BELOW = 1.7, 0.8, 0.8
_NUMBERS = "Numbers: a claim's first part, with its interval.\nVerdicts: by all its parts."


def scoreboard(
    board: pd.DataFrame, estimates: pd.DataFrame, scale: str, others: tuple[str, ...]
) -> plt.Figure:
    """Claim, paper's value, ours with its interval, standing of every estimate, verdicts.

    The first verdict is that of ``scale``, whose numbers are shown; ``others`` are other grounds.
    """
    rows = len(board)
    figure, text = _page(rows, _ABOVE)
    all_rows = _ABOVE + rows + _BELOW
    width = (_AXIS[1] - _AXIS[0]) / PAGE_WIDTH
    place = (_AXIS[0] / PAGE_WIDTH, _BELOW / all_rows, width, rows / all_rows)
    _standings(figure.add_axes(place), board, estimates)
    _titles(text, ("", "claim", "the paper", "here, the first part"))
    for number, name in enumerate((scale, *others)):
        name = textwrap.fill(LABELS.get(name, name), 14)
        text.text(_VERDICT + number * _NEXT, -0.1, name, fontsize=_FONT, rotation="vertical",
                  ha="center", va="bottom")  # fmt: skip
    for number, row in board.iterrows():
        _row(text, number, (row["id"], row["claim"], row["paper_value"], _first_part(row)))
        verdicts = [row["verdict"], *(_elsewhere(row, other) for other in others)]
        for ground, verdict in enumerate(verdicts):
            _mark(text, _VERDICT + ground * _NEXT, number + 0.5, verdict)
    return figure


def board_of_grounds(claims: Sequence[Claim], grounds: Mapping[str, pd.DataFrame]) -> plt.Figure:
    """Claim, paper's value, and each ground's verdict with its number.

    ``grounds`` are kept verdicts by the ground's name, a row per claim.
    """
    figure, text = _page(len(claims), _TITLES)
    _titles(text, ("", "claim", "the paper"))
    places = {name: _INTERVAL + n * _NEXT_INTERVAL for n, name in enumerate(grounds)}
    for name, across in places.items():
        title = textwrap.fill(LABELS.get(name, name), 15)
        text.text(across - 0.06, -0.35, title, fontsize=_FONT + 0.7, weight="bold", va="center")
    for number, claim in enumerate(claims):
        _row(text, number, (claim.name, claim.claim, claim.paper))
        for name, table in grounds.items():
            found = table[table["id"] == claim.name]
            if found.empty:
                continue
            row = found.iloc[0]
            _mark(text, places[name], number + 0.5, row["verdict"])
            if row["verdict"] != NOT_MEASURED:
                short = row[["value", "low", "high"]].astype(float).round(4)
                value = with_interval(short).replace(" [", "\n[")
                text.text(places[name] + 0.1, number + 0.5, value, fontsize=_FONT - 1, va="center")
    text.text(0.0, len(claims) + _BELOW / 2, _NUMBERS, fontsize=_FONT - 0.6, va="center")
    return figure


def _page(rows: int, above: float) -> tuple[plt.Figure, plt.Axes]:
    """A figure with room for so many claims, and axes in inches across and rows down."""
    all_rows = above + rows + _BELOW
    figure = plt.figure(figsize=(PAGE_WIDTH, all_rows * _ROW_HEIGHT))
    text = figure.add_axes((0, 0, 1, 1))
    text.set(xlim=(0, PAGE_WIDTH), ylim=(rows + _BELOW, -above))
    text.axis("off")
    _legend(text, rows + _BELOW / 2)
    return figure, text


def _titles(text: plt.Axes, titles: Sequence[str]) -> None:
    for (left, _), title in zip(_COLUMNS.values(), titles, strict=False):
        text.text(left, -0.35, title, fontsize=_FONT + 0.7, weight="bold", va="center")


def _row(text: plt.Axes, number: int, cells: Sequence[str]) -> None:
    """A claim's cells from the left, above a line."""
    for (name, (left, width)), cell in zip(_COLUMNS.items(), cells, strict=False):
        lines = [textwrap.fill(line, width) for line in cell.split("\n")]
        weight = "bold" if name == "id" else "normal"
        text.text(left, number + 0.5, "\n".join(lines), fontsize=_FONT, va="center", weight=weight)
    text.axhline(number, color="#DDDDDD", linewidth=0.4, zorder=0)


def _first_part(row: pd.Series) -> str:
    """The number shown for a claim: its part, interval and bound."""
    if row["verdict"] == NOT_MEASURED:
        return "–"
    part = row["part"].replace("_", " ")
    return f"{part}\n{with_interval(row)}\nwanted {row['bound']}"


def _elsewhere(row: pd.Series, other: str) -> str | None:
    """A claim's verdict on another ground; None where it was not judged."""
    word, _, verdict = row[other].partition(": ")
    return {SAME: row["verdict"], DEPENDS: verdict}.get(word)


def _mark(text: plt.Axes, across: float, down: float, verdict: str | None) -> None:
    """The symbol of a verdict; none where a ground was not judged."""
    if verdict is not None:
        text.plot(
            across, down, marker=MARKERS[verdict], color=COLOURS[verdict], markersize=6,
            markeredgecolor="black", markeredgewidth=0.4,
        )  # fmt: skip


def _legend(text: plt.Axes, down: float) -> None:
    """What the symbols mean, below the last claim."""
    for number, verdict in enumerate(VERDICTS):
        across = _COLUMNS["paper"][0] + number * 1.12
        _mark(text, across, down, verdict)
        text.text(across + 0.1, down, verdict, fontsize=_FONT + 0.4, va="center")


def _standings(axis: plt.Axes, board: pd.DataFrame, estimates: pd.DataFrame) -> None:
    """Where every estimate stands: right of 1 it holds, left of -1 it is contradicted."""
    rows = len(board)
    axis.axvspan(-1, 1, color="#EEEEEE", linewidth=0)
    axis.axvline(0, color="#888888", linewidth=0.6)
    for number, row in board.iterrows():
        part = estimates[estimates["id"] == row["id"]]
        places = np.linspace(0.2, 0.8, len(part)) if len(part) > 1 else np.full(len(part), 0.5)
        at = part["standing"].clip(-EDGE, EDGE).to_numpy()
        colours = [
            COLOURS[{"holds": REPRODUCED, "contradicted": NOT_REPRODUCED, "open": NOT_DECIDABLE}[s]]
            for s in part["says"]
        ]
        axis.scatter(at, number + places, s=7, c=colours, linewidths=0, clip_on=False)
        axis.axhline(number, color="#DDDDDD", linewidth=0.4, zorder=0)
    axis.set(xlim=(-EDGE - 0.3, EDGE + 0.3), ylim=(rows, 0), yticks=[])
    axis.xaxis.set_ticks_position("top")
    axis.set_xticks([-EDGE, -1, 0, 1, EDGE], ["≤ -3", "-1", "0", "1", "≥ 3"], fontsize=_FONT)
    axis.set_title("from the bound, in\nhalf-widths of the interval", fontsize=_FONT + 0.2, pad=3)
    axis.spines[["left", "bottom", "top"]].set_visible(False)
    axis.tick_params(length=2, pad=1)
