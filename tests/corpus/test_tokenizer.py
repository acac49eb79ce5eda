"""Loading a tokenizer for training text."""

import json

import pytest

from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.files import sha256


def test_what_the_store_remembers(tokenizer_file):
    tokenizer, info = load_tokenizer(tokenizer_file)
    assert info.sha256 == sha256(tokenizer_file)
    assert (info.vocab_size, info.end_of_text) == (204, 1)
    assert tokenizer.encode("alpha w3", add_special_tokens=False).ids == [202, 5]


def test_special_tokens_in_the_text_are_text(tokenizer_file):
    tokenizer, info = load_tokenizer(tokenizer_file)
    ids = tokenizer.encode("alpha <|endoftext|> beta", add_special_tokens=False).ids
    assert info.end_of_text not in ids
    assert (ids[0], ids[-1]) == (202, 203)


def test_truncation_and_padding_are_off(tokenizer_file):
    config = json.loads(tokenizer_file.read_text())
    config["truncation"] = {
        "direction": "Right",
        "max_length": 2,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    tokenizer_file.write_text(json.dumps(config))
    tokenizer, _ = load_tokenizer(tokenizer_file)
    assert len(tokenizer.encode("w1 w2 w3 w4").ids) == 4


def test_end_of_text(tokenizer_file):
    assert load_tokenizer(tokenizer_file, "beta")[1].end_of_text == 203
    with pytest.raises(OlmixError, match="no end-of-text token '<stop>' in the vocabulary"):
        load_tokenizer(tokenizer_file, "<stop>")
    text = tokenizer_file.read_text().replace("<|endoftext|>", "<other>")
    tokenizer_file.write_text(text)
    with pytest.raises(OlmixError, match=r"'<eos>' or '</s>'.*--end-of-text"):
        load_tokenizer(tokenizer_file)
    tokenizer_file.write_text(text.replace("<other>", "</s>"))
    assert load_tokenizer(tokenizer_file)[1].end_of_text == 1


def test_vocabulary_with_a_gap(tokenizer_file):
    text = tokenizer_file.read_text().replace('"beta": 203', '"beta": 70000')
    tokenizer_file.write_text(text)
    _, info = load_tokenizer(tokenizer_file)
    assert (info.vocab_size, info.dtype) == (70001, "uint32")


def test_bad_files(tmp_path):
    with pytest.raises(OlmixError, match="no such tokenizer file"):
        load_tokenizer(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text('{"version": "1.0"}')
    with pytest.raises(OlmixError, match=r"odd.json: not a Hugging Face tokenizers JSON") as caught:
        load_tokenizer(tmp_path / "odd.json")
    assert "\n" not in str(caught.value)
