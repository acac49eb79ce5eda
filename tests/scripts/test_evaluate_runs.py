"""Scores that training left are taken over only if they are of this run and this suite."""

import pytest

from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.files import read_json, write_json


@pytest.fixture
def leave(data, tmp_path):
    """A run with a score that training left; ``change`` is what is wrong with it."""

    def write(name: str, **change):
        folder, suite = tmp_path / "runs" / name, Suite.open(data / "suite")
        write_json(folder / "run.json", {"hash": name})
        score = {"run": name, "suite": {"name": suite.name, "hash": suite.hash}}
        score |= {"tasks": {"letters": 9.0}, "average": 9.0, "subsampled": None} | change
        write_json(folder / "eval.json", score)
        return score

    return write


def test_scores_are_copied(script, data, leave, tmp_path):
    expected = {name: leave(name) for name in ("one", "two")}
    script("evaluate_runs").main(data, tmp_path / "runs", None, tmp_path / "out")
    found = {path.stem: read_json(path) for path in (tmp_path / "out").glob("*.json")}
    assert found == expected


@pytest.mark.parametrize(
    "change",
    [{"suite": {"name": "tiny", "hash": "0" * 16}}, {"run": "another"}, {"subsampled": 1}],
    ids=["other suite", "other run", "subsampled"],
)
def test_other_scores_are_refused(script, data, leave, tmp_path, change):
    leave("right")
    leave("wrong", **change)
    key = next(iter(change))
    with pytest.raises(OlmixError, match=f"wrong/eval.json: {key} is .* to have its runs scored"):
        script("evaluate_runs").main(data, tmp_path / "runs", None, tmp_path / "out")
