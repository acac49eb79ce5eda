import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from olmix.presentation.bars import bpb_bars
from olmix.presentation.style import COLOURS, PALETTE, save, stamp, style
from olmix.regressors import FAMILIES
from olmix.updates.strategies import COMPARED, CONSTRUCTED, STRATEGIES


def test_the_style_ends_with_its_block():
    before = mpl.rcParams["font.size"], mpl.rcParams["pdf.fonttype"]
    with style():
        assert (mpl.rcParams["font.size"], mpl.rcParams["pdf.fonttype"]) == (8, 42)
    assert (mpl.rcParams["font.size"], mpl.rcParams["pdf.fonttype"]) == before


def test_colours_are_colours_and_what_is_drawn_together_differs():
    drawn = [*STRATEGIES.values(), *FAMILIES.values()]
    for colour in (*COLOURS.values(), *PALETTE, *(thing.colour for thing in drawn)):
        assert re.fullmatch(r"#[0-9a-fA-F]{6}", colour)
    assert len(set(PALETTE)) == len(PALETTE)
    for together in (COMPARED, list(FAMILIES.values())):
        for attribute in ("name", "label", "colour", "marker"):
            assert len({getattr(thing, attribute) for thing in together}) == len(together)
    assert len({strategy.marker for strategy in CONSTRUCTED}) == len(CONSTRUCTED)


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        with style():
            figure, axis = plt.subplots(figsize=(2, 1))
            axis.plot([1, 2], [3, 4])
            stamp(figure, "scale: tiny")
            save(figure, tmp_path / f"{name}.pdf")
        assert not plt.fignum_exists(figure.number)
    for suffix in ("pdf", "png"):
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
        assert first == second
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_bars_show_their_values_and_small_differences():
    with style():
        figure, axis = plt.subplots()
        bpb_bars(axis, ["one", "two"], [1.0, 1.01], errors=([0.01, 0.0], [0.0, 0.02]), highlight=0)
        assert [bar.get_height() for bar in axis.patches] == [1.0, 1.01]
        assert [text.get_text() for text in axis.texts] == ["1.000", "1.010"]
        assert [label.get_text() for label in axis.get_xticklabels()] == ["one", "two"]
        low, high = axis.get_ylim()
        assert 0.9 < low < 0.99
        assert 1.03 < high < 1.1
        colours = [mpl.colors.to_hex(bar.get_facecolor()) for bar in axis.patches]
        assert colours[0] == COLOURS["proposed"].lower() != colours[1]
        plt.close(figure)


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0]])
def test_equal_bars_still_have_an_axis(values):
    with style():
        figure, axis = plt.subplots()
        bpb_bars(axis, ["x"] * len(values), values)
        low, high = axis.get_ylim()
        assert low < 1.0 < high
        assert np.isfinite([low, high]).all()
        plt.close(figure)


def test_a_notice_is_written_large_over_the_figure():
    with style():
        figure, axis = plt.subplots(figsize=(3.4, 2))
        stamp(figure, "scale: simulated", "SIMULATED: nothing was trained")
        stamps = {text.get_text(): text for text in figure.texts}
        notice = stamps["SIMULATED: nothing was trained"]
        assert notice.get_fontsize() >= mpl.rcParams["axes.labelsize"]
        box = notice.get_window_extent()
        assert box.y0 > axis.get_window_extent().y1, "above the axes"
        assert 0 < box.x0 < box.x1 < figure.bbox.width, "no wider than the figure"
        plt.close(figure)
        plain, _ = plt.subplots()
        stamp(plain, "scale: tiny", None)
        assert [text.get_text() for text in plain.texts] == ["scale: tiny"]
        plt.close(plain)
