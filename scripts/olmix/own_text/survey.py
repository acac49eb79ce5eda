"""Read all text once: count it, name what is odd, find what to hold out (constant memory)."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from olmix.own_text.batches import Batch, batches_of, in_processes
from olmix.own_text.prints import ContentPrint, DocumentPrints, Sample, document_prints
from olmix.own_text.reading import Skipped, read_texts

__all__ = ["Candidate", "DomainSurvey", "survey_domains"]

# Documents kept in sight for holding out: those of the smallest prints.
CANDIDATES = 256
# Shorter ones make no task.
SHORTEST_CANDIDATE = 128
_KEPT_EXAMPLES = 3
_COUNTS = ("files", "documents", "bytes", "recoded_files")


@dataclass(frozen=True, order=True)
class Candidate:
    """A document that may be held out."""

    print: int
    text: str = field(compare=False)

    @property
    def prints(self) -> DocumentPrints:
        """The document's print, and the one that its near copies share."""
        return document_prints(self.text)


@dataclass
class DomainSurvey:
    """What was counted in the files of a domain."""

    files: int = 0
    documents: int = 0
    bytes: int = 0
    recoded_files: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)  # of what was skipped, a few
    content: ContentPrint = field(default_factory=ContentPrint)
    sample: Sample = field(default_factory=Sample)
    candidates: list[Candidate] = field(default_factory=list)  # different ones, smallest first

    def add(self, path: Path, text_field: str) -> None:
        """Read one file of the domain and count what it holds."""
        self.files += 1
        recoded = False
        for entry in read_texts(path, text_field):
            if isinstance(entry, Skipped):
                self._skip(path, entry)
                continue
            recoded = recoded or entry.recoded
            document = document_prints(entry.text)
            self.documents += 1
            self.bytes += len(entry.text.encode("utf-8", "replace"))
            self.content += ContentPrint(1, document.exact)
            self.sample.add(document.near)
            if len(entry.text) >= SHORTEST_CANDIDATE:
                self._keep([Candidate(document.exact, entry.text)])
        self.recoded_files += recoded

    def merge(self, other: "DomainSurvey") -> None:
        """Add what was found in other files of the domain."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped += other.skipped
        for kind, names in other.examples.items():
            self.examples[kind] = [*self.examples.get(kind, []), *names][:_KEPT_EXAMPLES]
        self.content += other.content
        self.sample.merge(other.sample)
        self._keep(other.candidates)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "skipped": dict(self.skipped),
            "examples": self.examples,
            "content": self.content.to_dict(),
            "sample": self.sample.to_dict(),
            "candidates": [[f"{entry.print:x}", entry.text] for entry in self.candidates],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "DomainSurvey":
        """The survey that `to_dict` wrote."""
        return cls(
            **{name: record[name] for name in _COUNTS},
            skipped=Counter(record["skipped"]),
            examples=dict(record["examples"]),
            content=ContentPrint.from_dict(record["content"]),
            sample=Sample.from_dict(record["sample"]),
            candidates=[Candidate(int(entry, 16), text) for entry, text in record["candidates"]],
        )

    def _skip(self, path: Path, entry: Skipped) -> None:
        self.skipped[entry.kind] += 1
        names = self.examples.setdefault(entry.kind, [])
        if len(names) < _KEPT_EXAMPLES:
            names.append(f"{path} ({entry.reason})" if entry.reason else str(path))

    def _keep(self, candidates: Iterable[Candidate]) -> None:
        full = len(self.candidates) >= CANDIDATES
        new = [entry for entry in candidates if not full or entry < self.candidates[-1]]
        if new:
            by_print = {entry.print: entry for entry in (*self.candidates, *new)}
            self.candidates = heapq.nsmallest(CANDIDATES, by_print.values())


def survey_domains(
    files: Mapping[str, list[Path]],
    *,
    text_field: str = "text",
    processes: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[str, DomainSurvey]]:
    """Read every file of every domain; a domain comes out as soon as all its files were read.

    ``on_progress`` is told the bytes of files read, and of all.
    """
    work = partial(_survey_batch, text_field=text_field)
    results = in_processes(work, batches_of(files), processes, on_progress)
    for domain, parts in groupby(results, key=lambda result: result[0].domain):
        whole = DomainSurvey()
        for _, part in parts:
            whole.merge(part)
        yield domain, whole


def _survey_batch(batch: Batch, text_field: str) -> DomainSurvey:
    survey = DomainSurvey()
    for path in batch.files:
        survey.add(path, text_field)
    return survey
