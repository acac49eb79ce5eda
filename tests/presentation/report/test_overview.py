from pathlib import Path

from olmix.presentation.report.overview import overview_caption, overview_page, runtime_table

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
