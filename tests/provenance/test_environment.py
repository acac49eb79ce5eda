import platform
import subprocess
from pathlib import Path

from olmix.provenance.environment import environment, environment_line, read_environment

REPOSITORY = Path(__file__).resolve().parents[2]


def test_commit_is_that_of_the_checkout():
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    head = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    found = environment()["commit"]
    assert (found or "").removesuffix("-dirty") == head


def test_a_log_gives_back_the_line_it_was_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    log = tmp_path / "job.log"
    log.write_text(f"1 of 3 runs\n{environment_line()}\nafter\n")
    found = read_environment(log)
    assert found["slurm_job"] == "4711"
    assert found["host"] == platform.node()
    assert set(found["versions"]) >= {"numpy", "torch", "snakemake"}


def test_a_log_without_it_or_no_log_tells_nothing(tmp_path):
    (tmp_path / "old.log").write_text("work\n")
    assert read_environment(tmp_path / "old.log") is None
    assert read_environment(tmp_path / "none.log") is None
