"""A word-level tokenizer small enough to count by hand."""

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ["<unk>", "<|endoftext|>", *(f"w{number}" for number in range(200)), "alpha", "beta"]


@pytest.fixture
def tokenizer_file(tmp_path):
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path
