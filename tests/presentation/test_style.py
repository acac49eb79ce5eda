import re

import matplotlib as mpl
import matplotlib.pyplot as plt

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


def test_nothing_is_cut_at_the_edge(tmp_path):
    # Small letters are wider at some resolutions: measured at another, labels beyond them were cut.
    names = [f"mt_mbpp_v2fix:typescript_{place}" for place in range(3)]
    with style():
        figure, axis = plt.subplots(figsize=(2, 1))
        axis.set_xticks(range(3), names, rotation="vertical")
        axis.set_yticks(range(3), names)
        axis.tick_params(labelsize=5)
        axis.set(xlabel="domain", ylabel="task")
        save(figure, tmp_path / "a.pdf")
    shade = plt.imread(tmp_path / "a.png")[..., :3]
    for edge in (shade[:3], shade[-3:], shade[:, :3], shade[:, -3:]):
        assert (edge == 1).all()


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
        stamp(figure, "scale: simulated", "SIMULATED: " + "nothing was trained, " * 5)
        longer = figure.texts[-1].get_window_extent()
        assert 0 < longer.x0 < longer.x1 < figure.bbox.width, "smaller where it is long"
        plt.close(figure)
        plain, _ = plt.subplots()
        stamp(plain, "scale: tiny", None)
        assert [text.get_text() for text in plain.texts] == ["scale: tiny"]
        plt.close(plain)
