import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from olmix.files import write_json
from olmix.presentation.dots import repeated_interval
from olmix.presentation.style import COLOURS, style
from olmix.questions.rq3.figures import swarm_distribution

ROWS = [
    ("topics", "sparse", 0.60, 0.01, 0.8, 0.7, 0.85),
    ("topics", "dense", 0.62, 0.02, 0.6, 0.5, 0.65),
    ("sources", "sparse", 0.50, None, 0.7, 0.6, 0.9),
    ("sources", "dense", 0.49, None, 0.9, 0.8, 0.95),
]


def middles(axis):
    return [bars.lines[0].get_ydata().tolist() for bars in axis.containers]


def ends(axis):
    return [bars.get_segments()[0][:, 1].tolist() for bars in axis.collections]


def test_bpb_left_and_fit_right(tmp_path):
    columns = ["level", "distribution", "measured_bpb", "measured_error"]
    columns += ["fit", "fit_low", "fit_high"]
    pd.DataFrame(ROWS, columns=columns).to_csv(tmp_path / "swarm_distribution.csv", index=False)
    write_json(tmp_path / "provenance.json", {"target_repeats": 4})
    with style():
        topics, sources, fit = swarm_distribution(tmp_path).axes
    assert topics.get_ylabel() == "average BPB of the target"
    assert middles(topics) == [[0.60], [0.62]]
    assert middles(sources) == [[0.50], [0.49]]
    half = repeated_interval(pd.Series([0.01, 0.02]), 4)
    assert np.array(ends(topics)) == pytest.approx(
        np.array([(0.6 - half, 0.6 + half), (0.62 - half, 0.62 + half)])
    )
    assert fit.get_ylabel() == "fit (mean Pearson)"
    assert middles(fit) == [[0.8, 0.7], [0.6, 0.9]]
    assert ends(fit)[0] == pytest.approx([0.7, 0.85])
    for bars, kind in zip(topics.containers, ("sparse", "dense"), strict=True):
        assert to_hex(bars.lines[0].get_color()) == COLOURS[kind].lower()
    assert [text.get_text() for text in fit.get_legend().get_texts()] == ["sparse", "dense"]
