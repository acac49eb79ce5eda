"""Many runs in a job, through the library and through the command."""

import json

import pytest

from olmix.__main__ import main
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.training import swarm_runner
from olmix.training.deadline import RESUME_ME
from olmix.training.settings import RunSettings
from olmix.training.swarm_runner import read_runs


@pytest.fixture
def job(corpus, settings, tmp_path):
    """A list of three runs that differ in their data seeds, and its file."""
    entries = [
        {
            "folder": f"swarm/run{number}",
            "corpus": str(corpus.root),
            "settings": settings.to_dict() | {"data_seed": number},
        }
        for number in range(3)
    ]
    path = tmp_path / "runs.json"
    write_json(path, entries)
    return path, entries


def train(path, *more: str) -> int:
    return main(["train", "--runs", str(path), *more])


def test_every_run_gets_its_files(job, tmp_path, capsys):
    path, entries = job
    assert train(path) == 0
    for number, entry in enumerate(entries):
        record = read_json(tmp_path / "swarm" / f"run{number}" / "run.json")
        assert record["hash"] == RunSettings.from_dict(entry["settings"]).hash
    assert (
        len({json.dumps(read_json(tmp_path / e["folder"] / "run.json")["losses"]) for e in entries})
        == 3
    )
    output = capsys.readouterr()
    assert output.out.count("40 steps, final loss") == 3
    assert "3 of 3 runs" in output.err
    assert list((tmp_path / ".state").iterdir()) == []


def test_finished_runs_are_skipped(job, tmp_path, monkeypatch):
    path, _ = job
    assert train(path) == 0
    times = [p.stat().st_mtime_ns for p in sorted((tmp_path / "swarm").rglob("*.*"))]
    monkeypatch.setattr(swarm_runner, "train_run", None)
    assert train(path) == 0
    assert times == [p.stat().st_mtime_ns for p in sorted((tmp_path / "swarm").rglob("*.*"))]


def test_a_failing_run_does_not_lose_the_others(job, tmp_path, capsys):
    path, entries = job
    entries[1]["settings"]["max_repetition"] = 0.001
    write_json(path, entries)
    assert train(path) == 1
    finished = sorted(folder.name for folder in (tmp_path / "swarm").iterdir())
    assert finished == ["run0", "run2"]
    assert "run1: domain" in capsys.readouterr().err


def test_a_time_limit_means_resume_me(job, tmp_path):
    path, _ = job
    assert train(path, "--time-limit", "0.1") == RESUME_ME
    assert not (tmp_path / "swarm").exists()
    assert len(list((tmp_path / ".state").iterdir())) == 1
    assert train(path) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "at least one run"),
        ({"runs": []}, "at least one run"),
        ([{"folder": "a"}], "run 0 has no 'corpus'"),
        ([{"folder": "a", "corpus": "c", "settings": {}}], "run 0: run settings"),
    ],
)
def test_malformed_lists_are_refused(tmp_path, content, message):
    write_json(tmp_path / "runs.json", content)
    with pytest.raises(OlmixError, match=message):
        read_runs(tmp_path / "runs.json")


def test_two_runs_in_one_folder_are_refused(job):
    path, entries = job
    write_json(path, [entries[0], entries[0]])
    with pytest.raises(OlmixError, match="two runs have the folder"):
        read_runs(path)
