"""Arrows of the rule graph keep clear of every text, at any size of graph."""

import random
from itertools import combinations, pairwise

import pytest

from olmix.plots.rule_graph_layout import FRAME, lay_out
from olmix.rule_graph import STAGES, RuleGraph, RuleNode


def made_up(seed: int) -> RuleGraph:
    """A graph of some stages, with arrows forward and back."""
    chance = random.Random(seed)
    nodes = []
    for stage in STAGES[: chance.randint(2, len(STAGES))]:
        for number in range(chance.randint(1, 5)):
            rules = [f"{stage}_rule_{number}_{part}" for part in range(chance.choice([1, 1, 1, 3]))]
            nodes.append(RuleNode(tuple(rules), stage))
    pairs = list(combinations(range(len(nodes)), 2))
    edges = set(chance.sample(pairs, min(len(pairs), len(nodes))))
    edges |= {(b, a) for a, b in chance.sample(pairs, min(len(pairs), 4))}
    return RuleGraph(tuple(nodes), frozenset(edges))


@pytest.mark.parametrize("seed", range(12))
def test_no_arrow_crosses_a_box_or_a_title(seed):
    graph = made_up(seed)
    layout = lay_out(graph)
    assert set(layout.routes) == graph.edges
    texts = [
        (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2)
        for b in layout.boxes
    ]
    for frame in layout.frames:
        left, right = frame.left, frame.left + frame.title_width - FRAME
        middle = (layout.tops[frame.row] + layout.bottoms[frame.row]) / 2
        texts.append((left, middle - 0.06, right, middle + 0.06))
    for edge, corners in layout.routes.items():
        for (x0, y0), (x1, y1) in pairwise(corners):
            assert x0 == x1 or y0 == y1, edge  # upright or level
            for left, bottom, right, top in texts:
                apart = (
                    max(x0, x1) <= left + 1e-9 or min(x0, x1) >= right - 1e-9
                    or max(y0, y1) <= bottom + 1e-9 or min(y0, y1) >= top - 1e-9
                )  # fmt: skip
                assert apart, edge


@pytest.mark.parametrize("seed", range(12))
def test_arrows_of_different_boxes_never_lie_on_one_another(seed):
    layout = lay_out(made_up(seed))
    pieces = [
        (source, *sorted(piece))
        for (source, _), corners in layout.routes.items()
        for piece in pairwise(corners)
    ]
    for (one, a0, a1), (other, b0, b1) in combinations(pieces, 2):
        if one == other:
            continue
        for axis in (0, 1):
            level_a, level_b = a0[axis] == a1[axis], b0[axis] == b1[axis]
            if level_a and level_b and abs(a0[axis] - b0[axis]) < 1e-6:
                along = 1 - axis
                shared = min(a1[along], b1[along]) - max(a0[along], b0[along])
                assert shared < 1e-6, (one, other)


@pytest.mark.parametrize("seed", range(12))
def test_boxes_stand_apart_inside_their_frames_and_the_page(seed):
    layout = lay_out(made_up(seed))
    for frame in layout.frames:
        assert 0 <= frame.left < frame.right <= layout.width + 1e-9
        edges = [frame.left + frame.title_width]
        for box in frame.boxes:
            assert box.x - box.width / 2 >= edges[-1] - 1e-9
            edges.append(box.x + box.width / 2)
        assert edges[-1] <= frame.right + 1e-9
    assert all(0 <= x <= layout.width for route in layout.routes.values() for x, _ in route)
