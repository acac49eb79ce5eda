"""The report's first page, as docutils reads it."""

import numpy as np
import pandas as pd
import pytest
from docutils.core import publish_parts
from PIL import Image

from olmix.files import write_json
from olmix.presentation.report.landing import landing_text

PROVENANCE = {"rq7": {"scale": "smoke", "commit": "a" * 40, "time": "2026-01-02T03:04:05+00:00"}}
RUNS = [("proxy", 30), ("target", 4)]


@pytest.fixture
def figure(tmp_path):
    """A picture whose text is longer than a line of docutils may be."""
    noise = np.random.default_rng(0).integers(0, 255, (90, 90, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "main_results.png")
    return tmp_path / "main_results.png"


@pytest.fixture
def answers(tmp_path):
    level = {"lowest_predicted": "exact", "lowest_measured": "exact",
             "predicted_bpb": {"exact": 0.25}, "measured_bpb": {"exact": 0.5}}  # fmt: skip
    write_json(tmp_path / "rq7" / "summary.json", {"topics": level})
    write_json(tmp_path / "rq7" / "provenance.json", {"target_repeats": 1})
    board = pd.DataFrame({"id": ["C01", "C02", "C03"], "verdict": ["open", "open", "shown"]})
    board.to_csv(tmp_path / "claims.csv", index=False)
    row = {"strategy": "swarm_reuse", "c": 3, "mean": 11.4, "low": 9.0, "high": 12.0}
    entry = {"improvement": 11.4, **row, "proxy_runs": 268, "share_of_full_recomputation": 1.0}
    write_json(tmp_path / "updates" / "summary.json", {"strategies": {"swarm_reuse-c3": entry}})
    table = pd.DataFrame([{**row, "proxy_runs": 268}])
    table.to_csv(tmp_path / "updates" / "main_results_by_strategy.csv", index=False)
    return {"updates": tmp_path / "updates", "rq7": tmp_path / "rq7",
            "claims": tmp_path / "claims.csv"}  # fmt: skip


def shown(text: str) -> str:
    """The page; what docutils does not understand is an error."""
    return publish_parts(text, writer="html", settings_overrides={"halt_level": 2})["html_body"]


def test_a_figure_the_counts_and_a_table_come_before_the_findings(answers, figure):
    page = shown(landing_text("smoke", RUNS, answers, PROVENANCE, figure))
    order = ["data:image/png;base64,", "Verdicts on 3 claims", "<td>swarm reuse, c = 3</td>",
             "smoke: 30 proxy runs, 4 target runs", "exact: 0.250"]  # fmt: skip
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    assert "<td>open</td>" in page
    assert "<td>+11.4 % (9.0 to 12.0)</td>" in page
    assert "aaaaaaaaaaaa;" in page
    assert "2026-01-02" in page


def test_what_was_not_made_is_left_out_and_a_notice_comes_first(answers, figure):
    record = {"rq7": {**PROVENANCE["rq7"], "notice": "SIMULATED"}}
    text = landing_text("simulated", RUNS, {"rq7": answers["rq7"]}, record, figure)
    assert text.startswith("**SIMULATED**")
    assert "list-table" not in text
    shown(text)
