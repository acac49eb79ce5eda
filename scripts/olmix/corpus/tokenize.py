"""From text files to token stores: parallel over files, restartable, in constant memory.

Each input file becomes a part (`olmix.corpus.parts`) in the hidden folder ``.parts`` of the output.
When all parts of a domain are there they are joined in the order of the files, so the bytes do not
depend on the number of processes nor on how often the work was interrupted. ``tokenized.json``
remembers what each domain was made from; parts are deleted once their domain is complete.
"""

import contextlib
import functools
import logging
import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from olmix.corpus.lock import only_run
from olmix.corpus.parts import PartJob, PartResult, part_file, part_record, tokenize_part
from olmix.corpus.sources import TextSource
from olmix.corpus.store import DTYPES, MANIFEST, StoreWriter, TokenizerInfo, TokenStore, folder_name
from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, write_json

__all__ = ["DomainSummary", "TokenizingProgress", "bytes_written", "tokenize"]

PARTS = ".parts"
RECORD = "tokenized.json"
# The share of broken lines is judged early only once this many lines were read.
LINES_BEFORE_JUDGING = 10_000
POLL_SECONDS = 2.0
REPORT_SECONDS = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DomainSummary:
    """What was written for a domain. Broken lines of a routed source belong to no domain yet:
    they are counted with every domain of the source."""

    domain: str
    documents: int
    tokens: int
    bytes: int
    broken: int


@dataclass(frozen=True)
class TokenizingProgress:
    """How far the work is: input files and bytes done, of how many, and tokens on disk."""

    files: int
    all_files: int
    bytes: int
    all_bytes: int
    tokens: int


def tokenize(
    sources: list[TextSource],
    out: str | Path,
    tokenizer_path: str | Path,
    *,
    end_of_text: str | None = None,
    downloads: str | Path | None = None,
    processes: int = 1,
    max_broken: float = 0.001,
    on_progress: Callable[[TokenizingProgress], None] = lambda progress: None,
    may_be_empty: bool = False,
) -> list[DomainSummary]:
    """Tokenise every domain of ``sources`` into a folder of ``out``; finished work is kept.

    ``max_broken`` is the largest share of broken lines allowed in a source. ``may_be_empty``: a
    domain without a document is left out, as in one of many shards, and not refused.
    """
    if processes < 1:
        raise OlmixError(f"{processes} processes: expected at least 1")
    if not 0 <= max_broken <= 1:
        raise OlmixError(f"the largest share of broken lines is {max_broken}: expected 0 to 1")
    out, tokenizer_path = Path(out), Path(tokenizer_path)
    _, info = load_tokenizer(tokenizer_path, end_of_text)
    jobs = _plan(sources, downloads, tokenizer_path, end_of_text, info)
    try:
        record = _run(
            jobs, out, info, tokenizer_path, processes, max_broken, on_progress, may_be_empty
        )
    except OSError as error:  # a full disk, a file that vanished: finished parts are kept
        raise OlmixError(f"{error.filename or out}: {error.strerror or error}") from error
    return [_summary(out, domain, record[domain]) for domain in sorted(jobs) if domain in record]


def _run(
    jobs: dict[str, list[PartJob]],
    out: Path,
    info: TokenizerInfo,
    tokenizer_path: Path,
    processes: int,
    max_broken: float,
    on_progress: Callable[[TokenizingProgress], None],
    may_be_empty: bool,
) -> dict:
    """Make what is not there yet; returns the record of all domains."""
    with only_run(out):
        for leftover in (*out.glob(".*.tmp"), *out.glob(".*.tmp.old")):
            shutil.rmtree(leftover)  # of a run that was killed while joining parts
        _check_same_tokenizer(out, info, tokenizer_path)
        record = read_json(out / RECORD) if (out / RECORD).is_file() else {}
        pending = {
            domain: parts
            for domain, parts in jobs.items()
            if not _is_done(out, domain, parts, record)
        }
        _tokenize_parts(pending, out / PARTS, processes, max_broken, on_progress)
        for domain, parts in pending.items():
            if may_be_empty and not _documents(out, domain, parts):
                continue
            record[domain] = _assemble(out, domain, parts, info)
            write_json(out / RECORD, record)
            for job in parts:
                part_file(out / PARTS / job.key, domain).unlink(missing_ok=True)
        shutil.rmtree(out / PARTS, ignore_errors=True)
    return record


def _plan(
    sources: list[TextSource],
    downloads: str | Path | None,
    tokenizer_path: Path,
    end_of_text: str | None,
    info: TokenizerInfo,
) -> dict[str, list[PartJob]]:
    """The jobs of every domain, in the order in which their parts will be joined."""
    jobs: dict[str, list[PartJob]] = {}
    for source in sources:
        files = source.files(downloads)
        for domain in source.domains:
            if domain in jobs:
                raise OlmixError(
                    f"domain {domain!r} comes from two sources (the second is {source.name!r}): "
                    "one corpus holds one version of a domain"
                )
            fed_by = "" if source.routes else domain
            jobs[domain] = [
                PartJob(path, fed_by, source, tokenizer_path, end_of_text, info)
                for path in files[fed_by]
            ]
    folders: dict[str, str] = {}
    for domain in jobs:
        other = folders.setdefault(folder_name(domain), domain)
        if other != domain:
            raise OlmixError(
                f"domains {other!r} and {domain!r} would share the folder {folder_name(domain)!r}"
            )
    if not jobs:
        raise OlmixError("no domain to tokenise")
    return jobs


def _check_same_tokenizer(out: Path, info: TokenizerInfo, tokenizer_path: Path) -> None:
    for manifest in sorted(out.glob(f"*/{MANIFEST}")):
        store = TokenStore.open(manifest.parent)
        if store.tokenizer != info:
            raise OlmixError(
                f"{manifest.parent}: domain {store.domain!r} was tokenised by another tokenizer "
                f"(sha256 {store.tokenizer.sha256[:12]}, end-of-text {store.tokenizer.end_of_text})"
                f" than {tokenizer_path} ({info.sha256[:12]}, {info.end_of_text}): "
                "choose another output folder"
            )


def _inputs_hash(parts: list[PartJob]) -> str:
    return content_hash([job.key for job in parts])


def _is_done(out: Path, domain: str, parts: list[PartJob], record: dict) -> bool:
    folder = out / folder_name(domain)
    if domain not in record or not (folder / MANIFEST).is_file():
        return False
    if record[domain]["inputs"] != _inputs_hash(parts):
        log.warning("domain %s: its files or settings changed, it is made again", domain)
        return False
    return record[domain]["manifest"] == content_hash(TokenStore.open(folder).manifest)


def _tokenize_parts(
    pending: dict[str, list[PartJob]],
    parts: Path,
    processes: int,
    max_broken: float,
    on_progress: Callable[[TokenizingProgress], None],
) -> None:
    """Make every part, in this process or in several. A file that feeds many domains is one job."""
    jobs = list({job.key: job for domain_jobs in pending.values() for job in domain_jobs}.values())
    work = functools.partial(_make_part, parts=parts, wanted=tuple(pending))
    tally = _Tally(jobs, parts, max_broken, on_progress)
    if processes == 1:
        for job in jobs:
            tally.add(job, work(job))
    else:
        _in_processes(jobs, work, processes, tally)
    tally.finish()


def _make_part(job: PartJob, parts: Path, wanted: tuple[str, ...]) -> PartResult:
    return tokenize_part(job, parts / job.key, wanted)


def _in_processes(
    jobs: list[PartJob], work: Callable[[PartJob], PartResult], processes: int, tally: "_Tally"
) -> None:
    # Spawned, not forked: the tokenizers library has threads. Largest files first, for balance.
    context = multiprocessing.get_context("spawn")
    jobs = sorted(jobs, key=lambda job: job.path.stat().st_size, reverse=True)
    others = set(multiprocessing.active_children())
    workers = max(1, min(processes, len(jobs)))
    with ProcessPoolExecutor(workers, context, initializer=_start_worker) as pool:
        running = {pool.submit(work, job): job for job in jobs}
        try:
            while running:
                done, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    tally.add(running.pop(future), future.result())
                tally.report()
        except BaseException:
            # Stop now: leaving the pool would first wait for the files being read.
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise


def _start_worker() -> None:
    """One core per worker, and no worker outlives the run that started it."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Tally:
    """Adds up finished parts: reports broken lines, stops past their limit, shows progress."""

    def __init__(
        self,
        jobs: list[PartJob],
        parts: Path,
        max_broken: float,
        on_progress: Callable[[TokenizingProgress], None],
    ) -> None:
        self._parts = parts
        self._max_broken = max_broken
        self._on_progress = on_progress
        self._files, self._all_files = 0, len(jobs)
        self._bytes, self._all_bytes = 0, sum(job.path.stat().st_size for job in jobs)
        self._lines: dict[str, list[int]] = {job.source.name: [0, 0] for job in jobs}
        self._item_bytes = DTYPES[jobs[0].tokenizer.dtype].itemsize if jobs else 1
        self._reported = 0.0

    def add(self, job: PartJob, result: PartResult) -> None:
        self._files += 1
        self._bytes += job.path.stat().st_size
        for line, reason in result.broken_lines:
            log.warning("%s:%d: %s", job.path, line, reason)
        if result.broken > len(result.broken_lines):
            more = result.broken - len(result.broken_lines)
            log.warning("%s: %d more broken lines", job.path, more)
        counts = self._lines[job.source.name]
        counts[0] += result.broken
        counts[1] += result.lines
        if counts[1] >= LINES_BEFORE_JUDGING:
            self._judge(job.source.name)
        self.report()

    def finish(self) -> None:
        for name in self._lines:
            self._judge(name)
        self.report(at_once=True)

    def report(self, at_once: bool = False) -> None:
        """Show progress, now and then: it is measured by looking at all parts on disk."""
        if not at_once and time.monotonic() - self._reported < REPORT_SECONDS:
            return
        self._reported = time.monotonic()
        written = bytes_written(self._parts)
        self._on_progress(
            TokenizingProgress(
                files=self._files,
                all_files=self._all_files,
                bytes=self._bytes,
                all_bytes=self._all_bytes,
                tokens=written // self._item_bytes,
            )
        )

    def _judge(self, name: str) -> None:
        broken, lines = self._lines[name]
        if broken > self._max_broken * lines:
            raise OlmixError(
                f"source {name!r}: {broken} of {lines} lines are broken, more than the allowed "
                f"share of {self._max_broken:g}; mend them or raise --max-broken"
            )


def bytes_written(parts: Path) -> int:
    """Bytes of tokens on disk while workers begin parts anew: what vanishes counts nothing."""
    written = 0
    for folder, _, names in os.walk(parts):  # passes over folders that are gone; a glob does not
        for name in names:
            if name.endswith(".bin"):
                with contextlib.suppress(FileNotFoundError):
                    written += (Path(folder) / name).stat().st_size
    return written


def _documents(out: Path, domain: str, parts: list[PartJob]) -> int:
    blocks = (part_record(out / PARTS / job.key).blocks.get(domain, []) for job in parts)
    return sum(documents for found in blocks for _, _, documents in found)


def _assemble(out: Path, domain: str, parts: list[PartJob], info: TokenizerInfo) -> dict:
    """Join a domain's parts into its store; returns the record of what it was made from."""
    folder, dtype, broken, other = out / folder_name(domain), DTYPES[info.dtype], 0, 0
    with StoreWriter(folder, domain=domain, tokenizer=info) as writer:
        for job in parts:
            part = out / PARTS / job.key
            result = part_record(part)
            broken, other = broken + result.broken, other + result.other
            blocks = result.blocks.get(domain, [])
            if not blocks:
                continue
            with part_file(part, domain).open("rb") as file:
                for tokens, size, documents in blocks:
                    block = np.fromfile(file, dtype=dtype, count=tokens)
                    writer.add_packed(block, bytes=size, documents=documents)
    return {
        "inputs": _inputs_hash(parts),
        "manifest": content_hash(TokenStore.open(folder).manifest),
        "files": [str(job.path) for job in parts],
        "broken": broken,
        "other": other,
    }


def _summary(out: Path, domain: str, record: dict) -> DomainSummary:
    store = TokenStore.open(out / folder_name(domain))
    return DomainSummary(domain, store.documents, store.tokens, store.bytes, record["broken"])
