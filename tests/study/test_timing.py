from subprocess import CompletedProcess

import pytest

from olmix.errors import OlmixError
from olmix.study import timing
from olmix.study.timing import job_minutes, job_seconds, time_lines


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


@pytest.fixture
def summary(tmp_path, monkeypatch):
    """Snakemake's summary of a target: two jobs that ran, one of them with two outputs."""
    lines = ["output_file\tdate\trule\tlog-file(s)\tstatus\tplan"]
    for output, log in (("a", "train/0"), ("b", "train/0"), ("c", "rq7"), ("d", "never")):
        lines.append(f"{output}\t-\trule\tresults/tiny/logs/{log}.log\tok\tno update")
    done = CompletedProcess([], 0, "\n".join(lines), "")
    monkeypatch.setattr(timing.subprocess, "run", lambda *args, **options: done)
    monkeypatch.chdir(tmp_path)
    return done


def test_job_minutes_count_every_job_once(summary, tmp_path):
    for name, seconds in (("train/0", "90.0"), ("rq7", "30.0")):
        path = tmp_path / "results" / "tiny" / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tcpu_time\n{seconds}\t15.0\n")
    assert job_minutes("results/rq7", "tiny") == 2.0


def test_job_minutes_of_what_never_ran(summary):
    assert job_minutes("results/rq7", "tiny") is None


def test_a_target_that_snakemake_does_not_know_is_refused(summary):
    summary.returncode, summary.stderr = 1, "MissingRuleException: results/nonsense"
    with pytest.raises(OlmixError, match="MissingRuleException"):
        job_minutes("results/nonsense", "tiny")
