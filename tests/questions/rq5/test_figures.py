"""Figure of RQ5 from a made-up table."""

import pandas as pd
import pytest

from olmix.presentation.style import style
from olmix.questions.rq5.figures import granularity_proxy


def test_bars_are_the_proxies_bpb_and_the_lowest_stands_out(tmp_path):
    frame = pd.DataFrame(
        {"granularity": ["aggregated", "task", "family"], "proxy_bpb": [1.2, 1.0, 1.1]}
    )
    frame.to_csv(tmp_path / "granularity.csv", index=False)
    with style():
        (axis,) = granularity_proxy(tmp_path).axes
    assert [tick.get_text() for tick in axis.get_xticklabels()] == [
        "per task", "per family", "aggregated",
    ]  # fmt: skip
    assert [bar.get_height() for bar in axis.patches] == pytest.approx([1.0, 1.1, 1.2])
    colours = [bar.get_facecolor() for bar in axis.patches]
    assert colours[0] != colours[1] == colours[2]
    assert axis.get_ylabel() == "average BPB of the proxy"
