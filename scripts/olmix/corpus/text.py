"""Reading user text: documents one at a time from .txt, JSON lines and parquet files.

A line that cannot be a document (bad UTF-8, invalid JSON, no text) does not stop the reading: it
comes out as a `BrokenLine`, for the caller to report and count. A damaged *file* is an error.
"""

import gzip
import json
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import zstandard

from olmix.errors import OlmixError

__all__ = ["BrokenLine", "Document", "read_documents", "text_format"]

JSON_LINES = (".jsonl", ".json", ".ndjson")
COMPRESSIONS = {"": "", ".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
READ_BYTES = 2**16
PARQUET_ROWS = 256


@dataclass(frozen=True)
class Document:
    """One document: its text, the line (or parquet row) it stands on, and a field beside it."""

    line: int
    text: str
    value: Any = None


@dataclass(frozen=True)
class BrokenLine:
    """A line that holds no document, and why."""

    line: int
    reason: str


def text_format(path: str | Path) -> tuple[str, str]:
    """The kind of a file (txt, json lines, parquet) and its compression, by its suffixes."""
    name = Path(path).name.lower()
    for suffix, compression in COMPRESSIONS.items():
        if suffix and not name.endswith(suffix):
            continue
        stem = name.removesuffix(suffix)
        if stem.endswith(JSON_LINES):
            return "json lines", compression
        if not compression and stem.endswith((".txt", ".parquet")):
            return stem.rsplit(".", 1)[1], ""
    raise OlmixError(
        f"{path}: unknown kind of text file, expected .txt, .jsonl, .jsonl.gz, .jsonl.zst "
        "(or .json for .jsonl) or .parquet"
    )


def read_documents(
    path: str | Path, text_field: str = "text", value_field: str | None = None
) -> Iterator[Document | BrokenLine]:
    """The documents of a file in order, in constant memory (of the longest document).

    ``value_field`` names a second field to hand out with each document, such as its topic; a
    dotted name (``metadata.topic``) looks inside nested fields.
    """
    path = Path(path)
    kind, compression = text_format(path)
    try:
        if kind == "txt":
            yield _read_text_file(path)
        elif kind == "parquet":
            yield from _read_parquet(path, text_field, value_field)
        else:
            with closing(_lines(path, compression)) as lines:
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        yield _parse_json_line(number, line, text_field, value_field)
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None


def _read_text_file(path: Path) -> Document | BrokenLine:
    data = path.read_bytes()
    try:
        return Document(1, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return BrokenLine(line, f"not UTF-8 ({error.reason} at byte {error.start})")


def _parse_json_line(
    number: int, line: bytes, text_field: str, value_field: str | None
) -> Document | BrokenLine:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BrokenLine(number, f"not UTF-8 ({error.reason} at byte {error.start})")
    except (json.JSONDecodeError, RecursionError) as error:
        return BrokenLine(number, f"invalid JSON ({error})")
    if not isinstance(row, dict):
        return BrokenLine(number, f"a JSON {type(row).__name__}, expected an object")
    text = look_up(row, text_field)
    if not isinstance(text, str):
        found = "is missing" if text is None else f"is a {type(text).__name__}"
        return BrokenLine(number, f"field {text_field!r} {found}, expected a string")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return BrokenLine(number, f"field {text_field!r} holds half of a surrogate pair")
    return Document(number, text, look_up(row, value_field) if value_field else None)


def look_up(row: Any, field: str) -> Any:
    """A field of a row, or one inside nested rows for a dotted name; None where there is none."""
    if isinstance(row, dict) and field in row:
        return row[field]
    head, _, tail = field.partition(".")
    return look_up(row[head], tail) if tail and isinstance(row, dict) and head in row else None


def _lines(path: Path, compression: str) -> Generator[bytes, None, None]:
    complete = 0
    try:
        for line in _open_lines(path, compression):
            yield line
            complete += 1
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        raise OlmixError(f"{path}: damaged after line {complete} ({error})") from error


def _open_lines(path: Path, compression: str) -> Iterator[bytes]:
    if compression == "zstd":
        yield from _zstd_lines(path)
        return
    with gzip.open(path, "rb") if compression == "gzip" else path.open("rb") as file:
        yield from file


def _zstd_lines(path: Path) -> Iterator[bytes]:
    """Lines of a file of zstd frames; unlike the library's reader it notices a missing end."""
    decompressor = zstandard.ZstdDecompressor()
    frame, pending = None, []
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            while data:
                frame = frame or decompressor.decompressobj()
                first, *rest = frame.decompress(data).split(b"\n")
                pending.append(first)
                for piece in rest:
                    yield b"".join(pending)
                    pending = [piece]
                data = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("the file ends inside a zstd frame")
    if any(pending):
        yield b"".join(pending)


def _read_parquet(
    path: Path, text_field: str, value_field: str | None
) -> Iterator[Document | BrokenLine]:
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise OlmixError(f"{path}: not a parquet file ({str(error).splitlines()[0]})") from error
    with file:
        fields = [text_field] + ([value_field.partition(".")[0]] if value_field else [])
        for field in fields:
            if field not in file.schema_arrow.names:
                names = ", ".join(file.schema_arrow.names)
                raise OlmixError(f"{path}: no column {field!r}, it has {names}")
        kind = file.schema_arrow.field(text_field).type
        kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise OlmixError(f"{path}: column {text_field!r} is {kind}, expected strings")
        yield from _parquet_rows(path, file, fields, value_field)


def _parquet_rows(
    path: Path,
    file: pyarrow.parquet.ParquetFile,
    fields: list[str],
    value_field: str | None,
) -> Iterator[Document | BrokenLine]:
    row = 0
    try:
        for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=sorted(set(fields))):
            texts = batch.column(fields[0])
            if pyarrow.types.is_dictionary(texts.type):
                texts = texts.cast(texts.type.value_type)
            # As bytes: a column of strings may hold bad UTF-8, and one row must not hide others.
            raw = texts.cast(pyarrow.large_binary()).to_pylist()
            values = [None] * len(raw)
            if value_field:
                rows = batch.select([fields[1]]).to_pylist()
                values = [look_up(entry, value_field) for entry in rows]
            for data, value in zip(raw, values, strict=True):
                row += 1
                yield _parquet_document(row, data, value, fields[0])
    except (pyarrow.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise OlmixError(f"{path}: damaged after row {row} ({reason})") from error


def _parquet_document(
    row: int, data: bytes | None, value: Any, text_field: str
) -> Document | BrokenLine:
    if data is None:
        return BrokenLine(row, f"column {text_field!r} is null, expected a string")
    try:
        return Document(row, data.decode("utf-8"), value)
    except UnicodeDecodeError as error:
        return BrokenLine(row, f"not UTF-8 ({error.reason} at byte {error.start})")
