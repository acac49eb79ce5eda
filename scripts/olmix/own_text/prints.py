"""What a domain holds, in constant memory: prints of its documents that add up and can be compared.

A document's print is a hash of its normalised text. The prints of a domain's documents, added up,
are the domain's: the same for the same documents in any order and any files, and the sum of those
of its parts. A sample of the prints tells which documents domains share.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ContentPrint", "Sample", "document_print", "shared_documents"]

_MODULUS = 2**128
# Prints a sample holds: it is exact for domains of fewer different documents.
_MOST = 2**16


def document_print(text: str) -> int:
    """A document's print: the same whatever its white space and its case."""
    normal = " ".join(text.split()).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(normal, digest_size=16).digest(), "big")


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
    """How often each print below ``limit`` came; the limit is halved when there are too many."""

    limit: int = _MODULUS
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, document: int, times: int = 1) -> None:
        """Count a document's print, if it is below the limit."""
        if document < self.limit:
            self.counts[document] = self.counts.get(document, 0) + times
            while len(self.counts) > _MOST:
                self._lower(self.limit // 2)

    def merge(self, other: "Sample") -> None:
        """Count all that another sample counted."""
        self._lower(min(self.limit, other.limit))
        for document, times in other.counts.items():
            self.add(document, times)

    def _lower(self, limit: int) -> None:
        self.limit = limit
        self.counts = {document: n for document, n in self.counts.items() if document < limit}

    @property
    def share(self) -> float:
        """The share of all prints that it holds."""
        return self.limit / _MODULUS

    @property
    def repeated(self) -> float:
        """The share of documents that are a copy of another one of the domain."""
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
    """The share of one domain's different documents that another has too."""
    limit = min(one.limit, other.limit)
    mine = [document for document in one.counts if document < limit]
    return sum(document in other.counts for document in mine) / len(mine) if mine else 0.0
