"""What a domain holds, in constant memory: prints of its documents that add up and can be compared.

A document has two prints: a hash of its normalised text, and one that near copies share. The first
ones of a domain's documents, added up, are the domain's: the same for the same documents in any
order and any files, and the sum of those of its parts. A sample of the second ones tells which
documents domains share, if not to the letter.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ContentPrint", "DocumentPrints", "Sample", "document_prints", "shared_documents"]

_MODULUS = 2**128
# Prints a sample holds: it is exact for domains of fewer different documents.
_MOST = 2**16
# Stretches of 1, 2, 4, 8, 16 and then 32 bytes are hashed by joining two of half the length.
_HALVES = (1, 2, 4, 8, 16)
_JOIN = np.uint64(0x9E3779B97F4A7C15)
# Each orders the stretches of a document in its own way (odd numbers without a pattern).
_ORDERS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93], dtype=np.uint64)


class DocumentPrints(NamedTuple):
    """The prints of a document: the same whatever its white space and its case.

    ``near`` is also the same for two documents that share a part J of their stretches of 32 bytes,
    with probability J³: 0.9 for a few changed words in a page, 0.001 for a tenth in common.
    """

    exact: int
    near: int


def document_prints(text: str) -> DocumentPrints:
    """The prints of one document."""
    normal = " ".join(text.split()).casefold().encode("utf-8", "surrogatepass")
    return DocumentPrints(_hash(normal), _hash(_first_stretches(normal)))


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=16).digest(), "big")


def _first_stretches(data: bytes) -> bytes:
    """The hash of the stretch that is first in each of the orders (MinHash); a short text whole."""
    if len(data) < 2 * _HALVES[-1]:
        return data
    hashes = np.frombuffer(data, dtype=np.uint8).astype(np.uint64) + _JOIN
    for half in _HALVES:
        hashes = (hashes[:-half] ^ (hashes[:-half] >> np.uint64(29))) * _JOIN + hashes[half:]
    return b"".join((hashes * order).min().tobytes() for order in _ORDERS)


@dataclass(frozen=True)
class ContentPrint:
    """How many documents there are, and the sum of their prints."""

    documents: int = 0
    total: int = 0

    def __add__(self, other: "ContentPrint") -> "ContentPrint":
        """The print of the documents of both."""
        total = (self.total + other.total) % _MODULUS
        return ContentPrint(self.documents + other.documents, total)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"documents": self.documents, "total": f"{self.total:x}"}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "ContentPrint":
        """The print that `to_dict` wrote."""
        return cls(record["documents"], int(record["total"], 16))


@dataclass
class Sample:
    """How often each near print below ``limit`` came; halved when there are too many."""

    limit: int = _MODULUS
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, document: int, times: int = 1) -> None:
        """Count a document's print, if it is below the limit."""
        if document < self.limit:
            self.counts[document] = self.counts.get(document, 0) + times
            while len(self.counts) > _MOST:
                self._lower(self.limit // 2)

    def merge(self, other: "Sample") -> None:
        """Add to these counts all that another sample counted."""
        self._lower(min(self.limit, other.limit))
        for document, times in other.counts.items():
            self.add(document, times)

    def _lower(self, limit: int) -> None:
        self.limit = limit
        self.counts = {document: n for document, n in self.counts.items() if document < limit}

    def copies(self, document: int) -> int:
        """How often a document came, by its near print; 1 where the sample does not tell."""
        return self.counts.get(document, 1)

    @property
    def share(self) -> float:
        """The share of all prints that it holds."""
        return self.limit / _MODULUS

    @property
    def repeated(self) -> float:
        """The share of documents that are a copy of another one of the domain, or nearly."""
        total = sum(self.counts.values())
        return 1 - len(self.counts) / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        counts = {f"{document:x}": times for document, times in sorted(self.counts.items())}
        return {"limit": f"{self.limit:x}", "counts": counts}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Sample":
        """The sample that `to_dict` wrote."""
        counts = {int(document, 16): times for document, times in record["counts"].items()}
        return cls(int(record["limit"], 16), counts)


def shared_documents(one: Sample, other: Sample) -> float:
    """The share of one domain's different documents that another has too, or nearly."""
    limit = min(one.limit, other.limit)
    mine = [document for document in one.counts if document < limit]
    return sum(document in other.counts for document in mine) / len(mine) if mine else 0.0
