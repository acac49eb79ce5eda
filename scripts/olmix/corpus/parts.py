"""Tokenising one input file into a part: the unit that is done in parallel and never redone.

A part is a folder with one flat file of ids per domain and, written last, ``part.json``. It is
named after everything that decides its content (the file's path, size and time, the tokenizer, the
settings), so a finished part is recognised and a stale one is never taken for it.
"""

import functools
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from olmix.corpus.edits import EDITS
from olmix.corpus.sources import TextSource, read_labels
from olmix.corpus.store import DTYPES, TokenizerInfo, folder_name
from olmix.corpus.text import BrokenLine, Document, read_documents
from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, write_json

__all__ = ["PartJob", "PartResult", "part_file", "part_record", "tokenize_part"]

RECORD = "part.json"
# Characters of text encoded at once, per domain: large enough for speed, small enough for memory.
BATCH_CHARACTERS = 2**19
KEPT_BROKEN_LINES = 20
# A file whose first lines are all broken was given the wrong settings: no need to read the rest.
HOPELESS_LINES = 1000

_load_once = functools.cache(load_tokenizer)


@dataclass(frozen=True)
class PartJob:
    """One input file of a source, and how to tokenise it. ``domain`` is "" when routed."""

    path: Path
    domain: str
    source: TextSource
    tokenizer_path: Path
    end_of_text: str | None
    tokenizer: TokenizerInfo

    @property
    def inputs(self) -> list[Path]:
        """The files the part is made from."""
        labels = self.source.labels_of(self.path)
        return [self.path] if labels is None else [self.path, labels]

    @functools.cached_property
    def key(self) -> str:
        """A hash of everything that decides the part's content."""
        try:
            stats = [path.stat() for path in self.inputs]
        except FileNotFoundError as error:
            raise OlmixError(f"{error.filename}: no such file") from None
        return content_hash(
            {
                "inputs": [
                    [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
                    for path, stat in zip(self.inputs, stats, strict=True)
                ],
                "tokenizer": [self.tokenizer.sha256, self.tokenizer.end_of_text],
                "text_field": self.source.text_field,
                "domain": self.domain,
                "column": self.source.column,
                **({"edit": self.source.edit} if self.source.edit else {}),
                "routes": sorted([repr(value), name] for value, name in self.source.routes.items()),
            }
        )


@dataclass
class PartResult:
    """What a finished part holds. Blocks are (tokens, bytes, documents), ends of documents."""

    lines: int = 0
    broken: int = 0
    other: int = 0  # documents whose column or label leads to no domain
    broken_lines: list[tuple[int, str]] = field(default_factory=list)  # the first few
    blocks: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)


def finished_part(folder: Path, wanted: Collection[str], dtype: np.dtype) -> PartResult | None:
    """The record of a part whose files for the ``wanted`` domains are complete, else None."""
    if not (folder / RECORD).is_file():
        return None
    result = part_record(folder)
    for domain in set(wanted) & set(result.blocks):
        path = part_file(folder, domain)
        tokens = sum(block[0] for block in result.blocks[domain])
        if not path.is_file() or path.stat().st_size != tokens * dtype.itemsize:
            return None
    return result


def part_record(folder: Path) -> PartResult:
    """The record of a finished part."""
    return PartResult(**read_json(folder / RECORD))


def part_file(folder: Path, domain: str) -> Path:
    """The file of a domain's ids inside a part."""
    return folder / f"{folder_name(domain)}.bin"


def tokenize_part(job: PartJob, folder: Path, wanted: Collection[str]) -> PartResult:
    """Tokenise one file into ``folder``, in constant memory; a finished part is kept as it is."""
    result = finished_part(folder, wanted, DTYPES[job.tokenizer.dtype])
    if result is not None:
        return result
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = PartResult()
    with ExitStack() as stack:
        writers: dict[str, _DomainWriter] = {}
        for domain, document in _routed_documents(job, result):
            if domain not in writers:
                file = stack.enter_context(part_file(folder, domain).open("wb"))
                result.blocks[domain] = []
                writers[domain] = _DomainWriter(job, file, result.blocks[domain])
            writers[domain].add(document)
        for writer in writers.values():
            writer.finish()
    write_json(folder / RECORD, vars(result))
    return result


def _routed_documents(job: PartJob, result: PartResult) -> Iterator[tuple[str, Document]]:
    """The file's documents with their domains; the rest is counted in ``result``."""
    source = job.source
    edit = EDITS[source.edit] if source.edit else None
    labels_path = source.labels_of(job.path)
    labels = None if labels_path is None else read_labels(labels_path)
    for entry in read_documents(job.path, source.text_field, source.column):
        result.lines += 1
        if labels is not None and entry.line > len(labels):
            raise OlmixError(f"{labels_path}: {len(labels)} labels, but {job.path} has more lines")
        if isinstance(entry, BrokenLine):
            _count_broken(job, result, entry)
            continue
        domain = job.domain
        if source.routes:
            value = labels[entry.line - 1].item() if labels is not None else entry.value
            domain = source.routes.get(value, "") if _hashable(value) else ""
        if domain:
            yield domain, replace(entry, text=edit(entry.text)) if edit else entry
        else:
            result.other += 1
    if labels is not None and len(labels) != result.lines:
        raise OlmixError(f"{labels_path}: {len(labels)} labels for {result.lines} lines")


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _count_broken(job: PartJob, result: PartResult, entry: BrokenLine) -> None:
    result.broken += 1
    if len(result.broken_lines) < KEPT_BROKEN_LINES:
        result.broken_lines.append((entry.line, entry.reason))
    if result.broken == result.lines == HOPELESS_LINES:
        raise OlmixError(
            f"{job.path}:{entry.line}: the first {HOPELESS_LINES} lines are all broken "
            f"(this one: {entry.reason})"
        )


class _DomainWriter:
    """Encodes the documents of one domain in batches and appends their ids to a file."""

    def __init__(self, job: PartJob, file: BinaryIO, blocks: list[tuple[int, int, int]]) -> None:
        self._job = job
        self._file = file
        self._blocks = blocks
        self._tokenizer, _ = _load_once(job.tokenizer_path, job.end_of_text)
        self._dtype = DTYPES[job.tokenizer.dtype]
        self._batch: list[Document] = []
        self._characters = 0

    def add(self, document: Document) -> None:
        self._batch.append(document)
        self._characters += len(document.text)
        if self._characters >= BATCH_CHARACTERS:
            self.flush()

    def finish(self) -> None:
        self.flush()
        self._file.flush()
        os.fsync(self._file.fileno())

    def flush(self) -> None:
        if not self._batch:
            return
        texts = [document.text for document in self._batch]
        try:
            encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        except Exception as error:  # the library raises the bare class
            first, last = self._batch[0].line, self._batch[-1].line
            raise OlmixError(
                f"{self._job.path}: the tokenizer failed between lines {first} and {last} ({error})"
            ) from error
        end = [self._job.tokenizer.end_of_text]
        ids = np.array(
            [token for encoding in encodings for token in encoding.ids + end], dtype=self._dtype
        )
        self._file.write(ids.data)
        size = sum(len(text.encode("utf-8")) for text in texts)
        self._blocks.append((len(ids), size, len(texts)))
        self._batch, self._characters = [], 0
