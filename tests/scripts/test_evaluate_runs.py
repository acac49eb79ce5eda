"""Scores that training left are taken over only if they are of this run and this suite."""

import pytest
import torch

from olmix.corpus.tokenizer import load_tokenizer
from olmix.evaluation.suite import Suite
from olmix.files import read_json, write_json
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer
from olmix.model.weights import save_weights

SHAPE = ModelShape("test", 8, 16, 1, 2, 32, 32)


@pytest.fixture
def runs(data, tmp_path):
    """Five small models, each with a score of 9 that training left, right or wrong."""
    suite = Suite.open(data / "suite")
    tokenizer = load_tokenizer(data / "tokenizer.json")[1].sha256
    right = {"suite": {"name": suite.name, "hash": suite.hash}, "subsampled": None}
    changes = {
        "right": {},
        "other_suite": {"suite": {"name": suite.name, "hash": "0" * 16}},
        "other_run": {"run": "another"},
        "subsampled": {"subsampled": 1},
        "unscored": None,
    }
    for seed, (name, change) in enumerate(changes.items()):
        folder = tmp_path / "runs" / name
        torch.manual_seed(seed)
        model = Transformer(SHAPE)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
        save_weights(folder / "weights.safetensors", SHAPE, model.state_dict(), name)
        write_json(folder / "run.json", {"hash": name, "settings": {"tokenizer": tokenizer}})
        if change is not None:
            tasks = {"letters": 9.0, "pairs": 9.0}
            score = {"run": name, "tasks": tasks, "average": 9.0} | right | change
            write_json(folder / "eval.json", score)
    return tmp_path / "runs"


def test_only_the_right_score_is_taken_over(script, data, runs, tmp_path):
    out = tmp_path / "out"
    script("evaluate_runs").main(data, runs, 256, None, 1, out)
    scores = {path.stem: read_json(path) for path in out.glob("*.json")}
    assert set(scores) == {path.name for path in runs.iterdir()}
    assert scores["right"] == read_json(runs / "right" / "eval.json")
    suite = Suite.open(data / "suite")
    for name in set(scores) - {"right"}:
        assert scores[name]["average"] != 9.0
        assert scores[name]["run"] == name
        assert scores[name]["suite"] == {"name": suite.name, "hash": suite.hash}
        assert scores[name]["subsampled"] is None
        assert list(scores[name]["tasks"]) == ["letters", "pairs"]


def test_nothing_is_loaded_where_all_is_scored(script, data, runs, tmp_path, monkeypatch):
    module = script("evaluate_runs")
    scored = []
    monkeypatch.setattr(module, "evaluate_runs", lambda folders, *_: scored.extend(folders))
    module.main(data, runs, 256, None, 1, tmp_path / "all")
    assert [folder.name for folder in scored] == [
        "other_run", "other_suite", "subsampled", "unscored"
    ]  # fmt: skip
    # Asked for one instance per task, the score of one instance is the right one.
    scored.clear()
    module.main(data, runs, 256, 1, 1, tmp_path / "few")
    assert "subsampled" not in [folder.name for folder in scored]
    assert len(scored) == 4
