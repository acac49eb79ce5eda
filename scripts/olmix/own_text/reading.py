"""Documents of any text file a person may have: other encodings, compressed, huge, or no text.

Files are read in constant memory. What is not a document (a binary file, an empty one, a broken
line) comes out as a `Skipped`, to be counted and named.
"""

import codecs
import gzip
import io
import json
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from olmix.corpus.text import BrokenLine, read_documents
from olmix.errors import OlmixError

__all__ = ["PIECE_CHARACTERS", "Skipped", "Text", "read_texts"]

# A longer document is read as several: what is held out is then never a large part of a domain,
# and models that read a few hundred tokens at a time lose nothing.
PIECE_CHARACTERS = 2**14
# Read at once; a line that is longer is cut.
_BLOCK = 2**20
# Looked at to tell text from anything else.
_HEAD = 2**13
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Text has next to no control characters; what decodes as Windows-1252 by chance is full of them.
_MOST_CONTROLS = 0.01
_CONTROLS = frozenset(chr(code) for code in range(32)) - frozenset("\t\n\r\f\b\x1b")


@dataclass(frozen=True)
class Text:
    """One document, and whether its bytes were in another encoding than UTF-8."""

    text: str
    recoded: bool = False


@dataclass(frozen=True)
class Skipped:
    """What a file has in place of a document: ``binary``, ``empty``, ``broken``, ``unreadable``."""

    kind: str
    reason: str = ""


def read_texts(path: Path, text_field: str = "text") -> Iterator[Text | Skipped]:
    """The documents of a file, each of at most `PIECE_CHARACTERS` characters.

    Rows of JSON lines and parquet files are documents by their ``text_field``; any other file is
    text itself.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for ever
            yield Skipped("unreadable", "not a regular file")
        elif _has_rows(path, text_field):
            for entry in read_documents(path, text_field):
                if isinstance(entry, BrokenLine):
                    yield Skipped("broken", f"line {entry.line}: {entry.reason}")
                else:
                    yield from _pieces(entry.text, recoded=False)
        else:
            yield from _read_plain(path)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        yield Skipped("unreadable", getattr(error, "strerror", None) or str(error))
    except OlmixError as error:  # a damaged JSON lines or parquet file
        yield Skipped("unreadable", str(error).removeprefix(f"{path}: "))


def _has_rows(path: Path, text_field: str) -> bool:
    """Whether a file is rows with a field of text: by its name, for .json by its first line."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst").removesuffix(".zstd")
    if name.endswith((".jsonl", ".ndjson", ".parquet")):
        return True
    if not name.endswith(".json"):
        return False
    with _open(path) as file:
        first = file.readline(_BLOCK)
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and text_field in row


def _open(path: Path) -> BinaryIO:
    """A file's bytes, decompressed."""
    if path.name.lower().endswith(".gz"):
        return cast("BinaryIO", gzip.open(path, "rb"))
    if path.name.lower().endswith((".zst", ".zstd")):
        decompressor = zstandard.ZstdDecompressor()
        stream = decompressor.stream_reader(path.open("rb"), read_across_frames=True)
        return io.BufferedReader(stream)
    return path.open("rb")


def _read_plain(path: Path) -> Iterator[Text | Skipped]:
    """A file that is text itself, block by block."""
    with _open(path) as file:
        head = file.read(_HEAD)
        encoding = _encoding(head)
        if encoding is None and b"\0" in head:
            yield Skipped("binary")
            return
        texts = _declared(file, head, encoding) if encoding else _undeclared(file, head)
        rest, recoded, empty = "", False, True
        for block, recoded in texts:
            if block is None:
                yield Skipped("binary")
                return
            *whole, rest = _cut(rest + block)
            for piece in whole:
                if piece.strip():
                    empty = False
                    yield Text(piece, recoded)
        if rest.strip():
            yield Text(rest, recoded)
        elif empty:
            yield Skipped("empty")


def _encoding(head: bytes) -> str | None:
    """The encoding that a byte order mark tells, or that every second byte being 0 gives away."""
    for mark, name in _BOMS.items():
        if head.startswith(mark):
            return name
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[first::2], head[1 - first :: 2]
        if zeros.count(0) > 0.5 * len(zeros) and 0 not in others:
            return name
    return None


def _declared(file: BinaryIO, head: bytes, encoding: str) -> Iterator[tuple[str | None, bool]]:
    """Blocks of a file of a known encoding; None where it is not text after all."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    data, recoded = head, encoding != "utf-8-sig"
    try:
        while data:
            yield decoder.decode(data), recoded
            data = file.read(_BLOCK)
        yield decoder.decode(b"", final=True), recoded
    except UnicodeDecodeError:
        yield None, False


def _undeclared(file: BinaryIO, head: bytes) -> Iterator[tuple[str | None, bool]]:
    """Blocks of lines, each line UTF-8 or else Windows-1252: one file may hold both."""
    rest = head
    while True:
        data = file.read(_BLOCK)
        rest += data
        end = rest.rfind(b"\n") + 1 if data else len(rest)
        if not end and len(rest) >= _BLOCK:  # a line without an end: cut between characters
            end = len(rest) - next((n for n in range(4) if rest[-1 - n] & 0xC0 != 0x80), 0) - 1
        if end:
            yield _decoded(rest[:end])
            rest = rest[end:]
        if not data:
            return


def _decoded(data: bytes) -> tuple[str | None, bool]:
    """Text, and whether it was not UTF-8; None if it is no text."""
    if b"\0" in data:
        return None, False
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        text = "".join(map(_decoded_line, data.splitlines(keepends=True)))
    odd = sum(character in _CONTROLS or character == "\ufffd" for character in text)
    return (None, False) if odd > _MOST_CONTROLS * len(text) else (text, True)


def _decoded_line(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _pieces(text: str, recoded: bool) -> Iterator[Text | Skipped]:
    if not text.strip():
        yield Skipped("empty")
        return
    yield from (Text(piece, recoded) for piece in _cut(text) if piece.strip())


def _cut(text: str) -> list[str]:
    """A text in pieces of at most `PIECE_CHARACTERS`, cut at the ends of lines where there are any.

    Only the last piece may have room left, so that text read in blocks is cut the same.
    """
    pieces, start = [], 0
    while len(text) - start > PIECE_CHARACTERS:
        end = text.rfind("\n", start, start + PIECE_CHARACTERS) + 1
        end = end or start + PIECE_CHARACTERS
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]
