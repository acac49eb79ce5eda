import numpy as np
import pandas as pd
import pytest

from olmix.files import write_json
from olmix.presentation.style import save, style
from olmix.questions.rq1.figures import proxy_size


@pytest.fixture
def answer(tmp_path):
    sizes, values = ["1m", "15m", "30m"], [0.6, 0.7, 0.9, 1.0]
    pd.DataFrame(
        [
            {"size": size, "run": f"r{i}", "proxy_bpb": n + value, "target_bpb": value}
            for n, size in enumerate(sizes) for i, value in enumerate(values)
        ]
    ).to_csv(tmp_path / "proxy_size.csv", index=False)  # fmt: skip
    pd.DataFrame(
        [
            {"size": size, "output": output, "spearman": 0.8 + n / 10, "spearman_low": 0.5,
             "spearman_high": 0.99}
            for n, size in enumerate(sizes) for output in ("average", "maths")
        ]
    ).to_csv(tmp_path / "correlations.csv", index=False)  # fmt: skip
    write_json(
        tmp_path / "summary.json", {"parameters": {"1m": 6640, "15m": 15440, "target": 99300}}
    )
    return tmp_path


def test_a_panel_per_size_with_the_parameters_there_really_are(answer, tmp_path):
    with style():
        figure = proxy_size(answer)
        shown = [axis for axis in figure.axes if axis.get_visible()]
        titles = [axis.get_title() for axis in shown]
        assert titles == [
            "6.6k: ρ = 0.80 [0.50, 0.99]",
            "15k: ρ = 0.90 [0.50, 0.99]",
            "30M: ρ = 1.00 [0.50, 0.99]",
        ]
        assert figure.get_supxlabel() == "average BPB of the proxy"
        assert figure.get_supylabel() == "average BPB of the target (99k)"
        points = shown[1].collections[0].get_offsets()
        assert np.asarray(points) == pytest.approx(
            np.array([[1.6, 0.6], [1.7, 0.7], [1.9, 0.9], [2.0, 1.0]])
        )
        save(figure, tmp_path / "proxy_size.pdf")
    assert (tmp_path / "proxy_size.png").stat().st_size > 0
