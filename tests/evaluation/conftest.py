"""A word-level tokenizer and small suites that the evaluation tests share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from olmix.evaluation.suite import Suite, SuiteWriter

WORDS = ["<|endoftext|>", "<unk>", "a", "b", "c", "één", "日本", "="]


@pytest.fixture
def tokenizer_path(tmp_path: Path) -> Path:
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture
def make_suite(tmp_path: Path) -> Callable[..., Suite]:
    """``make_suite({"task": [(prompt, gold), ...]})``: every task in the family its name starts."""

    def make(tasks: dict[str, list[tuple[str, str]]], mean_of: tuple[str, ...] = ()) -> Suite:
        folder = tmp_path / "suite"
        with SuiteWriter(folder, "made-up") as writer:
            for name, rows in tasks.items():
                writer.add(name, name.split("_")[0], rows)
            if mean_of:
                writer.add_mean("mean", "derived", mean_of)
        return Suite.open(folder)

    return make
