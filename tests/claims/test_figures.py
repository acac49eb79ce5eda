"""The scoreboard's picture: a row per claim, every estimate where it stands."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from olmix.claims.figures import COLOURS, EDGE, MARKERS, board_of_grounds, scoreboard
from olmix.claims.rules import VERDICTS, Bound
from olmix.claims.settings import Claim, Part
from olmix.presentation.style import save, style


@pytest.fixture(autouse=True)
def in_style():
    with style():
        yield
    plt.close("all")


@pytest.fixture
def board():
    rows = [
        {"id": f"C{n}", "claim": f"Claim {n}", "paper_value": f"said {n}", "part": "a_part",
         "value": 0.5, "low": 0.25, "high": 0.75, "bound": "≥ 0.1", "verdict": verdict,
         "other": other}
        for n, (verdict, other) in enumerate(
            zip(VERDICTS, ("same", "seed-dependent: reproduced", "not run: do it", "same"),
                strict=True))
    ]  # fmt: skip
    return pd.DataFrame(rows)


ESTIMATES = pd.DataFrame(
    [
        ("C0", 1.6, "holds"),
        ("C0", 40.0, "holds"),
        ("C1", -2.0, "contradicted"),
        ("C2", 0.3, "open"),
    ],
    columns=["id", "standing", "says"],
)


def test_every_verdict_has_its_colour_and_its_symbol():
    assert set(COLOURS) == set(MARKERS) == set(VERDICTS)
    assert len(set(COLOURS.values())) == len(set(MARKERS.values())) == len(VERDICTS)


def test_rows_say_what_the_board_says(board):
    figure = scoreboard(board, ESTIMATES, "tiny", ("other",))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"C0", "Claim 3", "said 2"} <= set(texts)
    assert "a part\n0.5 [0.25, 0.75]\nwanted ≥ 0.1" in texts
    # What is not measured shows no number.
    assert "–" in texts


def test_a_column_of_symbols_per_ground_says_each_verdict(board):
    axes = scoreboard(board, ESTIMATES, "tiny", ("other",)).axes[0]
    assert {"trained here", "other"} <= {text.get_text() for text in axes.texts}
    points = [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in axes.lines]
    first = min(x for x, y, _ in points if y == 0.5)
    here = {y: marker for x, y, marker in points if x == first and y % 1 == 0.5}
    there = {y: marker for x, y, marker in points if x > first and y % 1 == 0.5}
    assert here == {n + 0.5: MARKERS[verdict] for n, verdict in enumerate(VERDICTS)}
    # Same, another verdict, not run, same.
    assert there == {
        0.5: MARKERS[VERDICTS[0]],
        1.5: MARKERS["reproduced"],
        3.5: MARKERS[VERDICTS[3]],
    }


def test_estimates_stand_in_their_claims_row(board):
    axis = scoreboard(board, ESTIMATES, "tiny", ()).axes[1]
    points = [tuple(p) for c in axis.collections for p in c.get_offsets() if len(p)]
    places = {(round(x, 3), int(y)) for x, y in points if x or y}
    assert {(1.6, 0), (EDGE, 0), (-2.0, 1), (0.3, 2)} <= places


def test_it_is_a_page_wide(board, tmp_path):
    figure = scoreboard(board, ESTIMATES, "tiny", ())
    assert figure.get_size_inches()[0] == pytest.approx(7.0)
    save(figure, tmp_path / "claims.pdf")
    assert (tmp_path / "claims.png").stat().st_size > 1000


def test_a_board_of_grounds_has_each_verdict_with_its_interval(board):
    part = {"a_part": Part("what", Bound("at_least", 0.1), "why")}
    claims = [
        Claim(row["id"], row["claim"], row["paper_value"], ("rq1",), "fit", part)
        for _, row in board.iterrows()
    ]
    grounds = {
        "tiny": board,
        "published": board[board["id"] != "C1"].assign(value=0.3, low=0.3, high=0.3),
    }
    axes = board_of_grounds(claims, grounds).axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert {"trained here", "released runs", "C0", "Claim 3", "said 2"} <= set(texts)
    points = [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in axes.lines]
    columns = sorted({x for x, y, _ in points if y == 0.5})
    by_ground = [{y: marker for x, y, marker in points if x == column} for column in columns]
    every = {n + 0.5: MARKERS[verdict] for n, verdict in enumerate(VERDICTS)}
    assert by_ground == [every, {y: marker for y, marker in every.items() if y != 1.5}]
    # What is not measured (C3) shows no number, one that is exact no interval.
    assert texts.count("0.5\n[0.25, 0.75]") == 3
    assert texts.count("0.3") == 2
