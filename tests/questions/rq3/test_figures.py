import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from olmix.presentation.style import COLOURS, style
from olmix.questions.rq3.figures import swarm_distribution

ROWS = [
    ("topics", "sparse", 0.60, 0.01, 0.8, 0.7, 0.85),
    ("topics", "dense", 0.62, 0.02, 0.6, 0.5, 0.65),
    ("sources", "sparse", 0.50, None, 0.7, 0.6, 0.9),
    ("sources", "dense", 0.49, None, 0.9, 0.8, 0.95),
]


def test_bpb_left_and_fit_right(tmp_path):
    columns = ["level", "distribution", "measured_bpb", "measured_error"]
    columns += ["fit", "fit_low", "fit_high"]
    pd.DataFrame(ROWS, columns=columns).to_csv(tmp_path / "swarm_distribution.csv", index=False)
    with style():
        topics, sources, fit = swarm_distribution(tmp_path).axes
    assert topics.get_ylabel() == "average BPB of the target"
    assert [bar.get_height() for bar in topics.patches] == pytest.approx([0.60, 0.62])
    assert [bar.get_height() for bar in sources.patches] == pytest.approx([0.50, 0.49])
    # Repeated runs have error bars, single ones none.
    (bars,) = topics.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert ends == pytest.approx(np.array([(0.59, 0.61), (0.60, 0.64)]))
    assert not sources.collections
    assert fit.get_ylabel() == "regression fit (mean Pearson)"
    assert [bar.get_height() for bar in fit.patches] == pytest.approx([0.8, 0.7, 0.6, 0.9])
    for bar, kind in zip(topics.patches, ("sparse", "dense"), strict=True):
        assert to_hex(bar.get_facecolor()) == COLOURS[kind].lower()
    assert [text.get_text() for text in fit.get_legend().get_texts()] == ["sparse", "dense"]
