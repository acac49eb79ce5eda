"""Reading user text: every format gives the same documents; every broken line is named."""

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from olmix.corpus.text import BrokenLine, Document, read_documents, text_format
from olmix.errors import OlmixError

TEXTS = ["one two", "", "drei\nvier — ünïcode 🌍", "x" * 200_000, "last"]
LINES = b"".join(
    json.dumps({"text": text, "id": n}).encode() + b"\n" for n, text in enumerate(TEXTS)
)


def write(path, data: bytes):
    """Compress as the suffix says; zstd in two frames, as concatenated files have."""
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix in (".zst", ".zstd"):
        middle = len(data) // 2
        parts = data[:middle], data[middle:]
        data = b"".join(zstandard.ZstdCompressor().compress(part) for part in parts)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "name",
    ["a.jsonl", "a.json", "a.jsonl.gz", "a.json.gz", "a.jsonl.zst", "a.jsonl.zstd", "A.JSONL"],
)
def test_json_lines(tmp_path, name):
    path = write(tmp_path / name, LINES)
    documents = list(read_documents(path, value_field="id"))
    assert documents == [Document(n + 1, text, n) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_last_line_without_newline_and_blank_lines(tmp_path, name):
    path = write(tmp_path / name, b'{"text": "a"}\n\n  \n{"text": "b"}')
    assert list(read_documents(path)) == [Document(1, "a"), Document(4, "b")]


def test_text_file_is_one_document(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("zwei\nZeilen ✓\n".encode())
    assert list(read_documents(path)) == [Document(1, "zwei\nZeilen ✓\n")]
    path.write_bytes(b"fine\nfine\nbad \xff here")
    (broken,) = read_documents(path)
    assert broken == BrokenLine(3, "not UTF-8 (invalid start byte at byte 14)")


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    topics = [{"topic": f"t{n}"} for n in range(len(TEXTS))]
    table = pyarrow.table({"content": TEXTS, "metadata": topics, "unused": [1] * len(TEXTS)})
    pyarrow.parquet.write_table(table, path, row_group_size=2)
    documents = list(read_documents(path, "content", "metadata.topic"))
    assert documents == [Document(n + 1, text, f"t{n}") for n, text in enumerate(TEXTS)]
    with pytest.raises(OlmixError, match="no column 'text', it has content, metadata, unused"):
        list(read_documents(path))
    with pytest.raises(OlmixError, match="column 'unused' is int64, expected strings"):
        list(read_documents(path, "unused"))


def test_broken_parquet_rows(tmp_path):
    path = tmp_path / "a.parquet"
    raw = pyarrow.array([b"good", None, b"bad \xff", b"good"], pyarrow.binary())
    strings = pyarrow.Array.from_buffers(pyarrow.string(), 4, raw.buffers())
    pyarrow.parquet.write_table(pyarrow.table({"text": strings}), path)
    assert list(read_documents(path)) == [
        Document(1, "good"),
        BrokenLine(2, "column 'text' is null, expected a string"),
        BrokenLine(3, "not UTF-8 (invalid start byte at byte 4)"),
        Document(4, "good"),
    ]


def test_parquet_dictionary_column(tmp_path):
    path = tmp_path / "a.parquet"
    column = pyarrow.array(["a", "b", "a"]).dictionary_encode()
    pyarrow.parquet.write_table(pyarrow.table({"text": column}), path)
    assert [document.text for document in read_documents(path)] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "cut', "invalid JSON"),
        (b"[" * 100_000, "invalid JSON"),
        (b'["text"]', "a JSON list, expected an object"),
        (b'{"body": "x"}', "field 'text' is missing, expected a string"),
        (b'{"text": null}', "field 'text' is missing"),
        (b'{"text": 7}', "field 'text' is a int, expected a string"),
        (b'{"text": "\xff"}', "not UTF-8"),
        (b'{"text": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_broken_json_lines(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    before, broken, after = read_documents(path)
    assert (before.text, after.text) == ("before", "after")
    assert isinstance(broken, BrokenLine)
    assert broken.line == 2
    assert reason in broken.reason


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_truncated_compressed_file(tmp_path, name):
    path = write(tmp_path / name, LINES)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(OlmixError, match=r"a.jsonl.*: damaged after line \d"):
        list(read_documents(path))
    path.write_bytes(b"this is not compressed")
    with pytest.raises(OlmixError, match="damaged after line 0"):
        list(read_documents(path))


def test_damaged_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(OlmixError, match="not a parquet file"):
        list(read_documents(path))


def test_unknown_kind_and_missing_file(tmp_path):
    for name in ("a.csv", "a.txt.gz", "a", "a.parquet.zst"):
        with pytest.raises(OlmixError, match="unknown kind of text file"):
            text_format(name)
    with pytest.raises(OlmixError, match=r"a.jsonl: no such file"):
        list(read_documents(tmp_path / "a.jsonl"))


def test_nested_text_field(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": {"b": "x"}}\n{"a.b": "y"}\n{"a": "z"}\n')
    first, second, third = read_documents(path, "a.b")
    assert (first.text, second.text) == ("x", "y")
    assert isinstance(third, BrokenLine)
