"""Figure of the methods from a made-up table."""

import numpy as np
import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.methods.figures import methods


def test_a_labelled_point_per_method_and_a_line_for_natural(tmp_path):
    frame = pd.DataFrame(
        {
            "method": ["olmix_base", "regmix", "natural"],
            "label": ["OlmixBase", "RegMix", "natural"],
            "proxy_runs": [27, 241, 0],
            "target_bpb": [0.8, 0.9, 1.0],
            "target_error": [0.01, 0.02, None],
            "proxy_size": ["30m", "1m", None],
        }
    )
    frame.to_csv(tmp_path / "methods.csv", index=False)
    with style():
        figure = methods(tmp_path)
    (axis,) = figure.axes
    bars, *scattered = axis.collections
    points = [tuple(collection.get_offsets()[0]) for collection in scattered]
    assert points == [(27, 0.8), (241, 0.9)]
    assert bars.get_segments()[1] == pytest.approx(np.array([(241, 0.88), (241, 0.92)]))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "natural: no runs", "OlmixBase: 27 runs of 30m", "RegMix: 241 runs of 1m",
    ]  # fmt: skip
    assert axis.get_lines()[0].get_ydata() == pytest.approx([1.0, 1.0])
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("proxy runs", "average BPB of the target")
    assert axis.get_xlim()[0] <= 27 < 241 <= axis.get_xlim()[1]
