"""From training to BPB: a run of the real trainer, scored along the way and at the end."""

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter
from olmix.corpus.tokenizer import load_tokenizer
from olmix.evaluation.bpb import evaluate
from olmix.evaluation.runs import evaluate_run
from olmix.evaluation.tokens import TokenisedSuite
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


def test_training_lowers_bpb_and_the_final_evaluation_is_that_of_the_weights(
    tmp_path, tokenizer_path, make_suite, corpus
):
    tasks = {"qa_cycle": [("a b c a", " b c"), ("c a", " b")], "qa_other": [("a", " 日本")]}
    suite = TokenisedSuite(make_suite(tasks), tokenizer_path)
    settings = RunSettings(
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
