from olmix.cost.timing import job_seconds, time_lines


def write(path, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t12.0\n")


def test_seconds_are_summed_by_rule_and_kind(tmp_path):
    write(tmp_path / "train_proxies" / "topics" / "0.tsv", 60)
    write(tmp_path / "train_proxies" / "topics" / "1.tsv", 20)
    write(tmp_path / "rq7.tsv", 10)
    write(tmp_path / "list_runs" / "topics.tsv", 10)
    assert job_seconds(tmp_path) == {"train_proxies": [60, 20], "rq7": [10], "list_runs": [10]}
    text = "\n".join(time_lines(tmp_path))
    assert "train_proxies            2      80.0   80.0%" in text
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("workflow")] == [
        "10.0%"
    ]


def test_nothing_has_run(tmp_path):
    assert "nothing has run yet" in time_lines(tmp_path)[0]
