"""From training to BPB: a run of the real trainer, scored along the way and at the end."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter
from olmix.corpus.tokenizer import load_tokenizer
from olmix.evaluation.bpb import evaluate
from olmix.evaluation.runs import evaluate_run
from olmix.evaluation.suite import Suite
from olmix.evaluation.tokens import TokenisedSuite
from olmix.files import read_json, write_json
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.training.settings import RunSettings, data_fingerprint
from olmix.training.trainer import train_run


@pytest.fixture
def corpus(tmp_path, tokenizer_path):
    """One domain that repeats a, b, c: after two words, the next is certain."""
    tokenizer, info = load_tokenizer(tokenizer_path)
    ids = np.array(tokenizer.encode("a b c " * 10, add_special_tokens=False).ids)
    folder = tmp_path / "corpus" / "cycle"
    with StoreWriter(folder, domain="cycle", tokenizer=info) as writer:
        for _ in range(300):
            writer.add(ids, bytes=60)
    return Corpus.open(tmp_path / "corpus")


def run_of(corpus: Corpus) -> RunSettings:
    """A run of 60 steps, scored after the first and the last."""
    return RunSettings(
        model=ModelShape("test", 8, 16, 1, 2, 32, 32),
        mix={"cycle": 1.0},
        tokens=60 * 4 * 32,
        sequence_length=32,
        batch_size=4,
        learning_rate=0.02,
        init=Init("fast"),
        corpus=data_fingerprint(corpus, {"cycle": 1.0}),
        tokenizer=corpus.tokenizer.sha256,
        evaluate_at=(1 / 60, 1.0),
    )


def test_training_lowers_bpb_and_the_final_evaluation_is_that_of_the_weights(
    tmp_path, tokenizer_path, make_suite, corpus
):
    tasks = {"qa_cycle": [("a b c a", " b c"), ("c a", " b")], "qa_other": [("a", " 日本")]}
    suite = TokenisedSuite(make_suite(tasks), tokenizer_path)
    settings = run_of(corpus)
    record = train_run(
        settings,
        corpus,
        tmp_path / "run",
        tmp_path / "state",
        evaluate=lambda model: evaluate(model, suite),
    )
    early, late = (entry["result"]["tasks"] for entry in record["evaluations"])
    assert late["qa_cycle"] < 0.1 < 0.5 < early["qa_cycle"]
    assert late["qa_other"] > 1  # never seen in training

    final = evaluate_run(tmp_path / "run", suite)
    assert final["tasks"] == pytest.approx(late, rel=1e-6)
    assert final["run"] == settings.hash


def score(folder: Path, corpus: Corpus, suite: Suite, tokenizer: Path, count: int) -> dict:
    """Train the run by the command in so many processes, and read its score."""
    runs = [{"folder": "run", "corpus": str(corpus.root), "settings": run_of(corpus).to_dict()}]
    write_json(folder / "runs.json", runs)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "olmix", "train", "--runs", str(folder / "runs.json")]
    command += ["--suite", str(suite.folder), "--tokenizer", str(tokenizer), "--sharding", "all"]
    command += ["--batch-tokens", "8"]
    environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment |= {"OMP_NUM_THREADS": "1", "WORLD_SIZE": str(count)}
    started = [
        subprocess.Popen(command, env=environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(count)
    ]
    assert [process.wait(timeout=200) for process in started] == [0] * count
    return read_json(folder / "run" / "eval.json")


@pytest.mark.slow
def test_two_processes_score_as_one_does_and_a_lost_score_is_made_again(
    tmp_path, tokenizer_path, make_suite, corpus
):
    tasks = {"qa_cycle": [("a b c a", " b c"), ("c a", " b"), ("b c", " a b")] * 4}
    suite = make_suite(tasks)
    one, two = (
        score(tmp_path / str(count), corpus, suite, tokenizer_path, count) for count in (1, 2)
    )
    assert two["tasks"] == pytest.approx(one["tasks"], rel=1e-3)
    along = read_json(tmp_path / "2" / "run" / "run.json")["evaluations"]
    # The last of those along training is the score: it is not computed twice.
    assert along[-1]["result"]["tasks"] == two["tasks"]
    (tmp_path / "2" / "run" / "eval.json").unlink()
    again = score(tmp_path / "2", corpus, suite, tokenizer_path, 2)
    assert again["tasks"] == pytest.approx(two["tasks"], rel=1e-6)
