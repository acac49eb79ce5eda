import argparse
import json
import math
import zipfile

import numpy as np
import pytest

from olmix.commands import evaluate
from olmix.errors import OlmixError
from olmix.evaluation import bpb
from olmix.evaluation.tokens import TokenisedSuite
from olmix.files import sha256, write_json
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape, shape
from olmix.model.transformer import Transformer
from olmix.model.weights import save_weights

TASKS = {
    "math_sums": [("a =", " b c"), ("b", " a"), ("a a", " c = a")],
    "qa_facts": [("c = a b", " 日本"), ("b", " één a =")],
}


def run(*arguments):
    parser = argparse.ArgumentParser()
    evaluate.add_arguments(parser)
    evaluate.run(parser.parse_args([str(argument) for argument in arguments]))


def write_run(folder, model_shape, tokenizer_path, *, init=None, name="run hash"):
    """A run folder as the trainer leaves it, with random weights."""
    model = Transformer(model_shape, init=init or Init("fast"))
    save_weights(folder / "weights.safetensors", model_shape, model.state_dict(), name)
    settings = {"tokenizer": sha256(tokenizer_path)}
    write_json(folder / "run.json", {"hash": name, "settings": settings})
    return model


def tiny_shape(vocabulary=8):
    return ModelShape("test", vocabulary, 16, 1, 1, 32, 32)


@pytest.fixture
def finished(tmp_path, tokenizer_path, make_suite):
    """A finished run, and the arguments that score it."""
    make_suite(TASKS, mean_of=("math_sums", "qa_facts"))
    model = write_run(tmp_path / "run", tiny_shape(), tokenizer_path)
    arguments = ("--run", tmp_path / "run", "--suite", tmp_path / "suite")
    return model, (*arguments, "--tokenizer", tokenizer_path)


def test_a_run_is_scored(tmp_path, tokenizer_path, make_suite, finished, capsys):
    model, arguments = finished
    run(*arguments, "--out", tmp_path / "results" / "eval.json")
    result = json.loads((tmp_path / "results" / "eval.json").read_text())
    suite = make_suite(TASKS, mean_of=("math_sums", "qa_facts"))
    expected = bpb.evaluate(model, TokenisedSuite(suite, tokenizer_path))
    for key in ("tasks", "families", "average"):
        assert result[key] == pytest.approx(expected[key], rel=1e-6)
    assert result["suite"] == {"name": "made-up", "hash": suite.hash}
    assert result["instances"] == {"math_sums": 3, "qa_facts": 2, "mean": 0}
    assert result["subsampled"] is None
    assert result["run"] == "run hash"
    assert {"host", "time", "versions"} <= result["provenance"].keys()
    assert f"average {result['average']:.4f}" in capsys.readouterr().out


def test_several_runs_and_a_subsample(tmp_path, tokenizer_path, finished, capsys):
    _, arguments = finished
    write_run(
        tmp_path / "other",
        tiny_shape(),
        tokenizer_path,
        init=Init("fast", seed=1),
        name="other hash",
    )
    run(*arguments, "--run", tmp_path / "other", "--max-instances", 2, "--batch-tokens", 10)
    first, second = (
        json.loads((tmp_path / name / "eval.json").read_text()) for name in ("run", "other")
    )
    assert (first["run"], second["run"]) == ("run hash", "other hash")
    assert first["tasks"] != second["tasks"]
    assert first["subsampled"] == second["subsampled"] == 2
    assert first["instances"]["math_sums"] == 2
    assert "at most 2 instances a task" in capsys.readouterr().out


def test_a_mistake_in_the_last_run_stops_before_the_first_is_scored(tmp_path, finished):
    _, arguments = finished
    with pytest.raises(OlmixError, match="not a finished run"):
        run(*arguments, "--run", tmp_path / "nowhere")
    assert not (tmp_path / "run" / "eval.json").exists()


def test_another_tokenizer_is_refused(tmp_path, tokenizer_path, finished):
    _, arguments = finished
    tokenizer_path.write_text(tokenizer_path.read_text() + "\n")
    with pytest.raises(OlmixError, match=r"was trained with tokenizer [0-9a-f]{64}"):
        run(*arguments)


def test_a_vocabulary_too_small_is_refused(tmp_path, tokenizer_path, finished):
    _, arguments = finished
    write_run(tmp_path / "run", tiny_shape(vocabulary=5), tokenizer_path)
    with pytest.raises(OlmixError, match="gives token 7, but the model's vocabulary has 5"):
        run(*arguments)


def test_truncated_or_foreign_weights_are_refused(tmp_path, finished):
    _, arguments = finished
    weights = tmp_path / "run" / "weights.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(OlmixError, match="not a whole safetensors file"):
        run(*arguments)
    weights.write_bytes(whole)
    write_json(tmp_path / "run" / "run.json", {"hash": "another", "settings": {}})
    with pytest.raises(OlmixError, match="made by the settings 'run hash'"):
        run(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-instances", 0), "--max-instances is 0"),
        (("--batch-tokens", -1), "--batch-tokens is -1"),
        (("--out", "a.json", "--out", "b.json"), "1 --run but 2 --out"),
        (("--device", "abacus"), "--device 'abacus' cannot be used"),
        (("--suite", "nowhere"), "nowhere: not a task suite"),
        (("--tokenizer", "nowhere.json"), "nowhere.json: no such file"),
    ],
)
def test_bad_arguments_are_refused(finished, arguments, message):
    with pytest.raises(OlmixError, match=message):
        run(*finished[1], *arguments)


@pytest.mark.slow
def test_a_15m_model_on_the_papers_52_tasks(tmp_path, paper_wheel, paper_suite):
    """Random weights, and the wheel's gpt-neox tokenizer: it has no Dolma 2 one."""
    tokenizer_path = tmp_path / "tokenizer.json"
    member = "olmo_eval/tokenizers/allenai_gpt-neox-olmo-dolma-v1_5.json"
    with zipfile.ZipFile(paper_wheel) as archive:
        tokenizer_path.write_bytes(archive.read(member))
    write_run(tmp_path / "run", shape("15m"), tokenizer_path, init=Init("normal"))
    arguments = ("--run", tmp_path / "run", "--suite", paper_suite.folder)
    run(*arguments, "--tokenizer", tokenizer_path, "--max-instances", 4)
    result = json.loads((tmp_path / "run" / "eval.json").read_text())
    assert len(result["tasks"]) == 52
    assert result["subsampled"] == 4
    assert sum(result["instances"].values()) == 51 * 4
    # Small random weights: log2(100,352) = 16.61 bits for every token, give or take a little.
    instances = TokenisedSuite(paper_suite, tokenizer_path).instances(4)
    tokens = np.array([len(gold) for gold in instances.golds])
    expected = math.log2(100_352) * (tokens / instances.gold_bytes).reshape(51, 4).mean(axis=1)
    measured = [result["tasks"][name] for name in instances.counts]
    np.testing.assert_allclose(measured, expected, rtol=0.05)
