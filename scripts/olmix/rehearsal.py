"""The hub of a rehearsal: real text in the layout and the file formats of the public datasets.

The text is that of `olmix.own_text.demo`, which every machine with this environment has. Every
domain of a corpora file gets a share of its own, written where the source expects its files, with
labels where it has labels; beside them lies a tokenizer that was trained on it.
"""

import gzip
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from olmix.corpus.sources import TextSource
from olmix.corpus.text import Document, read_documents
from olmix.files import replacing
from olmix.own_text.demo import gather_demo
from olmix.own_text.vocabulary import train_tokenizer

__all__ = ["make_hub"]

# Characters of each domain, in documents of at most so many.
DOMAIN_CHARACTERS = 60_000
DOCUMENT_CHARACTERS = 6_000
VOCABULARY = 512
# Files of each pattern, so that a source can be dealt to several jobs.
FILES = 2


def make_hub(
    sources: Sequence[TextSource], tokenizer: Mapping[str, str], hub: Path
) -> dict[str, int]:
    """Write every dataset of some sources, and the tokenizer; returns characters by domain."""
    with tempfile.TemporaryDirectory() as temporary:
        texts = Path(temporary) / "texts"
        gather_demo(texts, texts)
        shards = {folder.name: sorted(folder.glob("*.jsonl")) for folder in sorted(texts.iterdir())
                  if folder.is_dir()}  # fmt: skip
        path = hub / tokenizer["repository"] / tokenizer["file"]
        train_tokenizer(shards, VOCABULARY, path)
        documents = _documents(shards)
        made: dict[str, int] = {}
        for source in sources:
            if source.dataset and not source.local and not source.files_of:
                made |= _write_source(source, documents, hub / source.dataset)
    return made


def _documents(shards: Mapping[str, list[Path]]) -> Iterator[str]:
    """Pieces of documents, one kind of text after the other, so that neighbours are alike."""
    every = [path for paths in shards.values() for path in paths]
    while True:  # from the beginning again, should the text not be enough
        for path in every:
            for entry in read_documents(path):
                if isinstance(entry, Document):
                    for start in range(0, len(entry.text), DOCUMENT_CHARACTERS):
                        yield entry.text[start : start + DOCUMENT_CHARACTERS]


def _write_source(source: TextSource, documents: Iterator[str], dataset: Path) -> dict[str, int]:
    """A source's files: of each domain, or of all together with a label for each document."""
    shares = {domain: _share(documents) for domain in source.domains}
    if source.labels:
        values = {domain: value for value, domain in source.routes.items()}
        rows = [(text, values[domain]) for domain, texts in shares.items() for text in texts]
        order = np.random.default_rng(0).permutation(len(rows))
        (patterns,) = source.patterns.values()
        for place, path in _places(patterns[0], dataset):
            mine = [rows[index] for index in order[place::FILES]]
            _write(path, [text for text, _ in mine])
            _write_labels(source, path, [value for _, value in mine])
    else:
        for domain, patterns in source.patterns.items():
            for place, path in _places(patterns[0], dataset):
                _write(path, shares[domain][place::FILES])
    return {domain: sum(map(len, texts)) for domain, texts in shares.items()}


def _share(documents: Iterator[str]) -> list[str]:
    """The next documents, as many as a domain gets."""
    found: list[str] = []
    size = 0
    while size < DOMAIN_CHARACTERS or len(found) < FILES:
        found.append(next(documents))
        size += len(found[-1])
    return found


def _places(pattern: str, dataset: Path) -> Iterable[tuple[int, Path]]:
    """Files that a pattern of a source matches."""
    for place in range(FILES):
        yield place, dataset / re.sub(r"\*+", f"{place:05d}", pattern)


def _write(path: Path, texts: list[str]) -> None:
    """Documents in the format that the file's name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(pa.table({"text": texts}), temporary)
            return
        lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
        data = lines.encode()
        packed = gzip.compress(data, mtime=0) if path.suffix == ".gz" else _zstd(data)
        temporary.write_bytes(packed)


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def _write_labels(source: TextSource, path: Path, values: list[Any]) -> None:
    labels = source.labels_of(path)
    if labels is not None:
        labels.parent.mkdir(parents=True, exist_ok=True)
        np.save(labels, np.array(values))
