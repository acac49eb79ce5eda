"""The rule graph as a picture: a frame per stage, a box per rule, arrows between the rows."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Outline

from olmix.plots.rule_graph_layout import (
    FRAME,
    LINE_HEIGHT,
    TEXT,
    TITLE,
    Box,
    Frame,
    Layout,
    lay_out,
)
from olmix.plots.style import PALETTE
from olmix.rule_graph import RuleGraph

__all__ = ["draw_rule_graph"]

_COLOURS = {
    "domains": "#595959",
    "swarm": PALETTE[0],
    "regression": PALETTE[3],
    "optimization": "#B07A00",
    "targets": PALETTE[2],
    "updates": "#A8547F",
    "questions": "#5E4FA2",
    "claims": "#9C2F2F",
    "figures": "#404040",
    "tables": "#7A7A7A",
    "report": "#00798C",
    "published": "#8C5A00",
}


def draw_rule_graph(graph: RuleGraph, note: str = "") -> plt.Figure:
    """The picture, a page wide; ``note`` is a line under it."""
    layout = lay_out(graph)
    room = 0.18 if note else 0.0
    figure = plt.figure(figsize=(layout.width, layout.height + room))
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, layout.width), ylim=(-room, layout.height))
    axis.set_axis_off()
    for frame in layout.frames:
        _draw_frame(axis, frame, layout)
    for (source, _), corners in layout.routes.items():
        _draw_arrow(axis, corners, _colour(layout.boxes[source].node.stage))
    for box in layout.boxes:
        _draw_box(axis, box)
    if note:
        axis.text(layout.frames[0].left, -room + 0.02, note, fontsize=6, color="#555555")
    return figure


def _colour(stage: str) -> str:
    """A stage's own colour; slate for one that has none."""
    return _COLOURS.get(stage, "#5B6770")


def _draw_frame(axis: Axes, frame: Frame, layout: Layout) -> None:
    top, bottom = layout.tops[frame.row], layout.bottoms[frame.row]
    colour = _colour(frame.stage)
    shape = "round,pad=0,rounding_size=0.06"
    for face, edge, alpha in ((colour, "none", 0.1), ("none", colour, 0.5)):
        axis.add_patch(
            FancyBboxPatch(
                (frame.left, bottom), frame.right - frame.left, top - bottom, boxstyle=shape,
                facecolor=face, edgecolor=edge, alpha=alpha, linewidth=0.5,
            )
        )  # fmt: skip
    axis.text(
        frame.left + FRAME, (top + bottom) / 2, frame.stage,
        fontsize=TITLE, fontweight="bold", color=colour, va="center_baseline",
    )  # fmt: skip


def _draw_box(axis: Axes, box: Box) -> None:
    axis.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - box.height / 2), box.width, box.height,
            boxstyle="round,pad=0,rounding_size=0.04",
            facecolor="white", edgecolor=_colour(box.node.stage), linewidth=0.8, zorder=3,
        )
    )  # fmt: skip
    for place, line in enumerate(box.lines):
        y = box.y + (len(box.lines) / 2 - place - 0.5) * LINE_HEIGHT
        axis.text(box.x, y, line, fontsize=TEXT, ha="center", va="center_baseline", zorder=4)


def _draw_arrow(axis: Axes, corners: list[tuple[float, float]], colour: str) -> None:
    """A line with rounded corners and a head at its end."""
    points, codes = [corners[0]], [Outline.MOVETO]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        points += [_towards(corner, before), corner, _towards(corner, after)]
        codes += [Outline.LINETO, Outline.CURVE3, Outline.CURVE3]
    points.append(corners[-1])
    codes.append(Outline.LINETO)
    axis.add_patch(
        FancyArrowPatch(
            path=Outline(points, codes), arrowstyle="-|>,head_length=3,head_width=1.6",
            color=colour, linewidth=0.8, shrinkA=0, shrinkB=0, zorder=2, capstyle="butt",
        )
    )  # fmt: skip


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The point at which a rounded corner begins."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    if length == 0:
        return corner
    radius = min(0.04, length / 2)
    return corner[0] + dx / length * radius, corner[1] + dy / length * radius
