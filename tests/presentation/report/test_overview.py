from pathlib import Path

from olmix.files import write_json
from olmix.presentation.report.overview import (
    landing_text,
    overview_caption,
    overview_page,
    runtime_table,
)

PROVENANCE = {"rq7": {"scale": "smoke", "commit": "a" * 40, "time": "2026-01-02T03:04:05+00:00",
                      "seeds": 2, "versions": {"numpy": "2.0"}}}  # fmt: skip


def benchmark(path: Path, seconds: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\tcpu_time\n{seconds}\t{seconds}\n")


def test_runtimes_by_rule_the_most_costly_first(tmp_path):
    benchmark(tmp_path / "rq7.tsv", 900)
    benchmark(tmp_path / "train" / "0.tsv", 2000)
    benchmark(tmp_path / "train" / "1.tsv", 700)
    frame = runtime_table(tmp_path)
    assert list(frame["rule"]) == ["train", "rq7"]
    assert list(frame["share_percent"]) == [75, 25]
    assert list(frame["longest"]) == [2000, 900]
    assert overview_caption(frame) == ("3 jobs took 1.00 hours of job time; train took 75 % of it.")
    page = overview_page(frame, PROVENANCE)
    assert "a" * 40 in page
    assert "numpy 2.0" in page


def test_landing_text_says_scale_runs_commit_date_and_findings(tmp_path):
    level = {"lowest_predicted": "exact", "lowest_measured": "exact",
             "predicted_bpb": {"exact": 0.25}, "measured_bpb": {"exact": 0.5}}  # fmt: skip
    write_json(tmp_path / "summary.json", {"topics": level})
    text = landing_text("smoke", [("proxy", 30), ("target", 4)], {"rq7": tmp_path}, PROVENANCE)
    assert "smoke: 30 proxy runs, 4 target runs" in text
    assert "aaaaaaaaaaaa;" in text
    assert "2026-01-02" in text
    assert "exact: 0.250" in text
