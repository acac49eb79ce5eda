"""Figure of RQ5 from a made-up table."""

import pandas as pd
import pytest

from olmix.files import write_json
from olmix.presentation.style import style
from olmix.questions.rq5.figures import granularity_proxy


def test_dots_are_the_proxies_bpb_and_a_clear_lowest_stands_out(tmp_path):
    frame = pd.DataFrame(
        {
            "granularity": ["aggregated", "task", "family"],
            "proxy_bpb": [1.2, 1.0, 1.1],
            "proxy_error": [0.01, 0.01, 0.01],
        }
    )
    frame.to_csv(tmp_path / "granularity.csv", index=False)
    write_json(tmp_path / "provenance.json", {"target_repeats": 4})
    with style():
        (axis,) = granularity_proxy(tmp_path).axes
    assert [tick.get_text() for tick in axis.get_xticklabels()] == [
        "per task", "per family", "aggregated",
    ]  # fmt: skip
    dots = [bars.lines[0] for bars in axis.containers]
    assert [dot.get_ydata()[0] for dot in dots] == pytest.approx([1.0, 1.1, 1.2])
    first, second, third = (dot.get_color() for dot in dots)
    assert first != second == third
    assert axis.get_ylabel() == "average BPB of the proxy"
