"""Any file a person may have comes out as documents, or as one word for why not."""

import gzip
import json
import os
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from olmix.own_text.reading import PIECE_CHARACTERS, Skipped, Text, read_texts

GERMAN = "Größe, Übung, ähnlich: naïve façade – “quoted”.\n" * 20


def read(path: Path, data: bytes) -> list[Text | Skipped]:
    path.write_bytes(data)
    return list(read_texts(path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_is_read_as_it_is_with_or_without_a_mark(tmp_path: Path, encoding: str):
    assert read(tmp_path / "a.txt", GERMAN.encode(encoding)) == [Text(GERMAN)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "cp1252"])
def test_other_encodings_are_read_and_said_to_be_so(tmp_path: Path, encoding: str):
    assert read(tmp_path / "a.txt", GERMAN.encode(encoding)) == [Text(GERMAN, recoded=True)]


def test_a_file_may_hold_two_encodings(tmp_path: Path):
    first, second = GERMAN * 2000, GERMAN
    data = first.encode("utf-8") + second.encode("cp1252")
    found = read(tmp_path / "a.txt", data)
    assert "".join(entry.text for entry in found) == first + second
    assert not found[0].recoded and found[-1].recoded


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 40, b"\x7fELF\0\0\0", b"%PDF-1.4\n" + bytes(range(128, 256)) * 90],
    ids=["every byte", "a program", "no zero, but not text either"],
)
def test_what_is_not_text_is_binary(tmp_path: Path, data: bytes):
    assert read(tmp_path / "a.txt", data) == [Skipped("binary")]


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
def test_empty_files_are_empty(tmp_path: Path, data: bytes):
    assert read(tmp_path / "a.txt", data) == [Skipped("empty")]


@pytest.mark.parametrize("line", ["word " * 50 + "\n", "ö" * 300_000], ids=["lines", "one line"])
def test_a_long_file_comes_in_pieces_that_are_the_whole(tmp_path: Path, line: str):
    text = line * 2000 if line.endswith("\n") else line * 9
    found = read(tmp_path / "a.txt", text.encode())
    assert "".join(entry.text for entry in found) == text
    assert max(len(entry.text) for entry in found) <= PIECE_CHARACTERS
    assert min(len(entry.text) for entry in found[:-1]) > PIECE_CHARACTERS // 2


def test_rows_and_compressed_files_are_read_by_their_names(tmp_path: Path):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in ("one", "two"))
    broken = lines + "{not json\n" + json.dumps({"other": 1}) + "\n"
    assert read(tmp_path / "a.jsonl", lines.encode()) == [Text("one"), Text("two")]
    assert read(tmp_path / "a.json", lines.encode()) == [Text("one"), Text("two")]
    assert read(tmp_path / "a.json.gz", gzip.compress(lines.encode())) == [Text("one"), Text("two")]
    kinds = [type(entry).__name__ for entry in read(tmp_path / "b.jsonl", broken.encode())]
    assert kinds == ["Text", "Text", "Skipped", "Skipped"]
    assert read(tmp_path / "data.json", b'{"a": [1, 2]}') == [Text('{"a": [1, 2]}')]
    packed = zstandard.ZstdCompressor().compress(b"plain")
    assert read(tmp_path / "a.md.zst", packed) == [Text("plain")]
    pyarrow.parquet.write_table(pyarrow.table({"text": ["row"]}), tmp_path / "a.parquet")
    assert list(read_texts(tmp_path / "a.parquet")) == [Text("row")]


def test_what_cannot_be_read_is_said_with_its_reason(tmp_path: Path):
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    missing, pipe, damaged, rows = (
        list(read_texts(tmp_path / "gone.txt")),
        list(read_texts(tmp_path / "pipe")),
        read(tmp_path / "a.txt.gz", gzip.compress(b"text" * 100)[:-12]),
        read(tmp_path / "a.parquet", b"not parquet"),
    )
    for found in (missing, pipe, damaged, rows):
        assert [entry.kind for entry in found] == ["unreadable"] and found[0].reason
