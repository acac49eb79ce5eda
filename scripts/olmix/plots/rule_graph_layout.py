"""Where the rule graph's frames, boxes and arrows stand, so that no arrow crosses text.

Frames stand in rows, in the order of the work. All arrows run in the channels between rows and in
the margins: forward ones leave a box at its bottom and skip rows in the left margin, those that go
back to an earlier stage leave at its top and climb in the right margin.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, pairwise, permutations

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from olmix.plots.style import PAGE_WIDTH
from olmix.rule_graph import RuleGraph, RuleNode

__all__ = ["FRAME", "LINE_HEIGHT", "TEXT", "TITLE", "Box", "Frame", "Layout", "lay_out"]

# Inches.
TEXT, TITLE = 6.5, 7  # points
LINE_HEIGHT = 0.11
_PAD = 0.06  # around the text of a box
_BETWEEN = 0.2  # between boxes, at least
_SPREAD = 0.3  # more than that, at most
FRAME = 0.09  # from a frame to its boxes
_LANE = 0.055  # between arrows that run side by side
_CHANNEL = 0.1  # above and below the arrows of a channel


@dataclass
class Box:
    """A node in its place: the centre, size and lines of text."""

    node: RuleNode
    lines: list[str]
    row: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """Of the text and what is around it."""
        return max(_text_width(line, TEXT) for line in self.lines) + 2 * _PAD

    @property
    def height(self) -> float:
        """Of the text and what is around it."""
        return len(self.lines) * LINE_HEIGHT + 2 * _PAD


@dataclass
class Frame:
    """A stage, or a part of it where it is too wide for one row."""

    stage: str
    boxes: list[Box]
    row: int = 0
    left: float = 0.0
    right: float = 0.0

    @property
    def title_width(self) -> float:
        """What the title takes at the left of the boxes."""
        return _text_width(self.stage, TITLE, bold=True) + 2 * FRAME

    @property
    def width(self) -> float:
        """The least it needs."""
        boxes = sum(box.width for box in self.boxes) + _BETWEEN * (len(self.boxes) - 1)
        return self.title_width + boxes + FRAME


@dataclass
class Net:
    """The arrows that leave one box on one side: they share their way as far as they can."""

    source: int
    up: bool
    targets: list[int] = field(default_factory=list)
    exit: float = 0.0
    margin: float | None = None
    entries: dict[int, float] = field(default_factory=dict)
    lanes: dict[int, float] = field(default_factory=dict)  # channel -> height in it


@dataclass
class Layout:
    """Where everything stands; inches from the lower left corner."""

    boxes: list[Box]
    frames: list[Frame]
    routes: dict[tuple[int, int], list[tuple[float, float]]]
    width: float
    height: float
    tops: list[float] = field(default_factory=list)  # of the rows' frames
    bottoms: list[float] = field(default_factory=list)


@lru_cache
def _text_width(text: str, size: float, bold: bool = False) -> float:
    font = FontProperties(weight="bold" if bold else "normal")
    return TextPath((0, 0), text or " ", size=size, prop=font).get_extents().width / 72


def _lines(node: RuleNode) -> list[str]:
    """The names in a box: one rule on a line, many short ones side by side."""
    if len(node.rules) <= 3:
        return list(node.rules)
    fitting = max(1, 34 // (max(map(len, node.rules)) + 2))
    per_line = -(-len(node.rules) // -(-len(node.rules) // fitting))  # lines of equal length
    groups = [node.rules[start : start + per_line] for start in range(0, len(node.rules), per_line)]
    return ["   ".join(group) for group in groups]


def lay_out(graph: RuleGraph, width: float = PAGE_WIDTH) -> Layout:
    """Frames in rows as they fit, then a way for every arrow."""
    boxes = [Box(node, _lines(node)) for node in graph.nodes]
    left, right = 0.0, width
    for _ in range(3):  # how wide the margins are is known once the rows are, and moves them
        frames = _rows(graph, boxes, right - left)
        straight, nets = _nets(graph, boxes, frames)
        left = _margin(nets, boxes, up=False)
        right = width - _margin(nets, boxes, up=True)
    _place_x(frames, left, right)
    channels = _channels(boxes, nets)
    _ports(boxes, nets)
    _margin_lanes(boxes, nets, left, right)
    for channel, members in channels.items():
        _order(channel, members, boxes)
    layout = Layout(boxes, frames, {}, width, 0.0)
    _place_y(layout, channels)
    for source, target in straight:
        start, end = boxes[source], boxes[target]
        layout.routes[source, target] = [
            (start.x + start.width / 2, start.y),
            (end.x - end.width / 2, end.y),
        ]
    for net in nets:
        for target in net.targets:
            layout.routes[net.source, target] = _route(net, target, layout)
    return layout


def _rows(graph: RuleGraph, boxes: list[Box], width: float) -> list[Frame]:
    """Stages in order, as many to a row as fit; one that is too wide takes several rows."""
    frames: list[Frame] = []
    room, row = 0.0, -1
    for stage in graph.stages:
        members = [box for box in boxes if box.node.stage == stage]
        for part in _parts(stage, members, width):
            if row < 0 or part.width > room:
                row, room = row + 1, width
            room -= part.width + _BETWEEN
            part.row = row
            for box in part.boxes:
                box.row = row
            frames.append(part)
    return frames


def _parts(stage: str, members: list[Box], width: float) -> list[Frame]:
    parts = [Frame(stage, [])]
    for box in members:
        parts[-1].boxes.append(box)
        if parts[-1].width > width and len(parts[-1].boxes) > 1:
            parts[-1].boxes.pop()
            parts.append(Frame(stage, [box]))
    return parts


def _nets(
    graph: RuleGraph, boxes: list[Box], frames: list[Frame]
) -> tuple[list[tuple[int, int]], list[Net]]:
    """Arrows between neighbours, and nets for all others."""
    index = {id(box): number for number, box in enumerate(boxes)}
    neighbours = {
        (index[id(a)], index[id(b)]) for frame in frames for a, b in pairwise(frame.boxes)
    }
    nets: dict[tuple[int, bool], Net] = {}
    for source, target in sorted(graph.edges - neighbours):
        up = boxes[target].row <= boxes[source].row
        nets.setdefault((source, up), Net(source, up)).targets.append(target)
    return sorted(graph.edges & neighbours), list(nets.values())


def _home(net: Net, boxes: list[Box]) -> int:
    """The channel a net starts in: channel r is above row r."""
    return boxes[net.source].row + (not net.up)


def _leaves(net: Net, boxes: list[Box]) -> bool:
    """Whether a net goes through the margin."""
    return any(boxes[target].row != _home(net, boxes) for target in net.targets)


def _margin(nets: list[Net], boxes: list[Box], *, up: bool) -> float:
    """The width of the left margin, or of the right one, where arrows go up."""
    return 0.02 + _LANE * 1.5 * sum(_leaves(net, boxes) for net in nets if net.up is up)


def _place_x(frames: list[Frame], left: float, right: float) -> None:
    """A row fills the page; what it has to spare is shared out between its boxes."""
    rows = defaultdict(list)
    for frame in frames:
        rows[frame.row].append(frame)
    for row in rows.values():
        spare = right - left - sum(f.width for f in row) - _BETWEEN / 2 * (len(row) - 1)
        start, count = left, sum(len(frame.boxes) for frame in row)
        for frame in row:
            frame.left = start
            frame.right = start + frame.width + spare * len(frame.boxes) / count
            start = frame.right + _BETWEEN / 2
            x = frame.left + frame.title_width
            for box in frame.boxes:
                box.x = x + box.width / 2
                x += box.width + _BETWEEN + min(spare / count, _SPREAD)


def _channels(boxes: list[Box], nets: list[Net]) -> dict[int, list[Net]]:
    """The nets that run in each channel."""
    channels: dict[int, list[Net]] = defaultdict(list)
    for net in nets:
        rows = {boxes[target].row for target in net.targets} | {_home(net, boxes)}
        for row in sorted(rows):
            channels[row].append(net)
    return channels


def _ports(boxes: list[Box], nets: list[Net]) -> None:
    """Where nets leave and enter: side by side on a box, and never one above another."""
    taken: dict[int, list[float]] = defaultdict(list)
    for number, box in enumerate(boxes):
        below = [net for net in nets if net.source == number and not net.up]
        leaving = [net for net in nets if net.source == number and net.up]
        entering = [net for net in nets if number in net.targets]
        # Those from the left first, so that they do not cross before the box.
        entering.sort(key=lambda net: (net.up and boxes[net.source].row != box.row,
                                       boxes[net.source].x))  # fmt: skip
        for channel, ports in ((box.row, entering + leaving), (box.row + 1, below)):
            for place, net in enumerate(ports, start=1):
                x = box.x - box.width / 2 + box.width * place / (len(ports) + 1)
                step = 0
                while any(abs(x - other) < _LANE for other in taken[channel]):
                    step += 1
                    x += (_LANE / 2) * step * (-1) ** step
                taken[channel].append(x)
                if net.source == number:
                    net.exit = x
                else:
                    net.entries[number] = x


def _length(net: Net, boxes: list[Box]) -> int:
    """How many rows a net passes on its longest way."""
    return max(abs(boxes[target].row - _home(net, boxes)) for target in net.targets)


def _margin_lanes(boxes: list[Box], nets: list[Net], left: float, right: float) -> None:
    """A lane of its own for each net that skips rows, the longest outside."""
    for up in (False, True):
        members = [net for net in nets if net.up is up and _leaves(net, boxes)]
        members.sort(key=lambda net: _length(net, boxes))
        for place, net in enumerate(members, start=1):
            away = 1.5 * _LANE * place
            net.margin = right + away if up else left - away


def _spots(net: Net, channel: int, boxes: list[Box]) -> list[tuple[float, str]]:
    """Where a net turns out of a channel: x and 'above', 'below' or 'margin'."""
    spots = [(net.entries[t], "below") for t in net.targets if boxes[t].row == channel]
    if channel == _home(net, boxes):
        spots.append((net.exit, "below" if net.up else "above"))
    if net.margin is not None:
        spots.append((net.margin, "margin"))
    return spots


def _order(channel: int, members: list[Net], boxes: list[Box]) -> None:
    """Stack the nets of a channel so that they cross as little as they can."""
    count = len(members)
    cost = [[_crossings(upper, lower, channel, boxes) for lower in members] for upper in members]
    # All orders of more than seven would take long; they stay as they come.
    orders = permutations(range(count)) if count <= 7 else [range(count)]
    best = min(orders, key=lambda order: sum(cost[a][b] for a, b in combinations(order, 2)))
    for place, number in enumerate(best):
        members[number].lanes[channel] = place * _LANE


def _crossings(upper: Net, lower: Net, channel: int, boxes: list[Box]) -> int:
    """How often two nets of a channel cross if one runs above the other."""
    above, below = _spots(upper, channel, boxes), _spots(lower, channel, boxes)
    return _within(above, "below", below) + _within(below, "above", above)


def _within(spots: list[tuple[float, str]], side: str, other: list[tuple[float, str]]) -> int:
    """Turns to a side that fall between the ends of another net."""
    first, last = min(x for x, _ in other), max(x for x, _ in other)
    return sum(turn == side and first < x < last for x, turn in spots)


def _place_y(layout: Layout, channels: dict[int, list[Net]]) -> None:
    """Rows from the top down, each as high as its highest box; lanes become heights."""
    rows = 1 + max(frame.row for frame in layout.frames)
    y, starts = 0.0, []
    for row in range(rows + 1):
        starts.append(y - _CHANNEL)
        lanes = len(channels.get(row, ()))
        if lanes:
            y -= 2 * _CHANNEL + _LANE * (lanes - 1)
        else:  # nothing runs here; the picture's own edge needs no room
            y -= _CHANNEL if 0 < row < rows else 0.02
        if row < rows:
            members = [box for box in layout.boxes if box.row == row]
            height = max(box.height for box in members) + 2 * FRAME
            layout.tops.append(y)
            layout.bottoms.append(y - height)
            for box in members:
                box.y = y - height / 2
            y -= height
    layout.height = -y
    for channel, members in channels.items():
        for net in members:
            net.lanes[channel] = starts[channel] - net.lanes[channel] + layout.height
    layout.tops = [top + layout.height for top in layout.tops]
    layout.bottoms = [bottom + layout.height for bottom in layout.bottoms]
    for box in layout.boxes:
        box.y += layout.height


def _route(net: Net, target: int, layout: Layout) -> list[tuple[float, float]]:
    """The corners of one arrow."""
    source, end = layout.boxes[net.source], layout.boxes[target]
    home = _home(net, layout.boxes)
    side = source.height / 2 if net.up else -source.height / 2
    lane = net.lanes[home]
    corners = [(net.exit, source.y + side), (net.exit, lane)]
    if end.row != home:
        corners += [(net.margin, lane), (net.margin, net.lanes[end.row])]
    entry = net.entries[target]
    return [*corners, (entry, net.lanes[end.row]), (entry, end.y + end.height / 2)]
