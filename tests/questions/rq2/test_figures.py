import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.rq2.figures import swarm_size, swarm_size_target


@pytest.fixture
def answer(tmp_path):
    rows = [
        {"domains": m, "multiplier": c, "error": e, "lowest": e / 2, "highest": 2 * e}
        for m in (2, 4, 8) for c, e in ((1, 0.04), (2, 0.02), (3, 0.01))
    ]  # fmt: skip
    curves = pd.DataFrame(rows)
    curves.to_csv(tmp_path / "swarm_size.csv", index=False)
    curves[curves["domains"] != 4].to_csv(tmp_path / "swarm_size_target.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("draw", "counts", "label"),
    [
        (swarm_size, ["2", "4", "8"], "error of the proxy (BPB)"),
        (swarm_size_target, ["2", "8"], "error of the target (BPB)"),
    ],
)
def test_a_curve_and_a_band_per_number_of_domains(answer, draw, counts, label):
    with style():
        axis = draw(answer).axes[0]
    assert axis.get_ylabel() == label
    assert axis.get_xlabel() == "c, for swarms of K = c(m + 1) runs"
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        f"m = {m}" for m in counts
    ]
    assert axis.get_ylim()[0] == 0
    for line, band in zip(axis.get_lines(), axis.collections, strict=True):
        assert line.get_xdata().tolist() == [1, 2, 3]
        assert line.get_ydata().tolist() == pytest.approx([0.04, 0.02, 0.01])
        heights = band.get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == pytest.approx((0.005, 0.08))
