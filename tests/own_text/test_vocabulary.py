"""A tokenizer of a fitting size that can write every text."""

from pathlib import Path

import pytest

from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.files import sha256
from olmix.own_text.gather import gather
from olmix.own_text.vocabulary import SMALLEST, fitting_size, train_tokenizer


@pytest.fixture
def shards(folder: Path, tmp_path: Path) -> dict[str, list[Path]]:
    files = {place.name: sorted(place.iterdir()) for place in folder.iterdir()}
    folders = {name: tmp_path / "shards" / name for name in files}
    gather(files, folders, frozenset())
    return {name: sorted(place.glob("*.zst")) for name, place in folders.items()}


def test_the_size_follows_the_text_in_powers_of_two_up_to_the_largest():
    assert [fitting_size(size, 2048) for size in (0, 10**6, 8_192_000, 16_384_000, 10**9)] == [
        SMALLEST, SMALLEST, 1024, 2048, 2048,
    ]  # fmt: skip


def test_the_tokenizer_has_the_size_and_writes_any_text(shards, tmp_path: Path):
    train_tokenizer(shards, 330, tmp_path / "tokenizer.json")
    tokenizer, info = load_tokenizer(tmp_path / "tokenizer.json")
    assert info.vocab_size == 330
    for text in ("the of and", "日本語 ß \x00 \U0001f600"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    train_tokenizer(shards, 330, tmp_path / "again.json")
    assert sha256(tmp_path / "again.json") == sha256(tmp_path / "tokenizer.json")


def test_a_vocabulary_smaller_than_bytes_is_refused(shards, tmp_path: Path):
    with pytest.raises(OlmixError, match="a vocabulary of 100 words"):
        train_tokenizer(shards, 100, tmp_path / "tokenizer.json")
