"""Fetching the files of a source: resumed where they stopped, checked, and remembered.

Files go to ``<to>/<dataset>/<path>``. ``<to>/checksums.json`` pins each dataset to the commit of
its first fetch and keeps the SHA-256 of every file, which later fetches must reproduce.
"""

import hashlib
import logging
import os
import posixpath
import re
import shutil
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from olmix.corpus.hub import PASSING_FAULTS, FolderHub, Hub, NotFoundError, RemoteFile
from olmix.corpus.lock import only_run
from olmix.corpus.sources import TextSource, path_matches
from olmix.errors import OlmixError
from olmix.files import read_json, sha256, write_json

__all__ = ["DownloadPlan", "download", "plan_download", "verify_downloads"]

CHECKSUMS = "checksums.json"
CHUNK_BYTES = 2**20
SECONDS_BETWEEN_SAVES = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DownloadPlan:
    """The files of one source, at one commit of its dataset."""

    source: str
    dataset: str
    requested: str
    commit: str
    files: tuple[RemoteFile, ...]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.size for file in self.files)


def plan_download(
    source: TextSource, to: str | Path | None, hub: Hub | FolderHub, max_files: int | None = None
) -> DownloadPlan:
    """Ask the hub which files a source has (the first ``max_files`` of each domain).

    A dataset of which ``to`` has some already stays at the commit of its first fetch.
    """
    if source.local:
        raise OlmixError(f"source {source.name!r} is read from its 'paths': nothing to download")
    if source.unavailable or not source.dataset:
        raise OlmixError(f"source {source.name!r} cannot be downloaded: {source.unavailable}")
    commit = _pinned_commit(source, _read_checksums(to)) or hub.revision(
        source.dataset, source.revision
    )
    listing = _Listing(hub, source.dataset, commit)
    chosen: dict[str, RemoteFile] = {}
    for domain, patterns in source.patterns.items():
        found = sorted(
            {file.path: file for pattern in patterns for file in listing.matching(pattern)}.items()
        )
        if not found:
            raise OlmixError(
                f"{source.dataset}@{commit[:12]}: no file matches {' or '.join(patterns)} "
                f"(of {domain or source.name!r})"
            )
        chosen.update(found[:max_files])
    for path in list(chosen):
        labels = source.labels_of(Path(path))
        if labels is not None and source.classifier is None:
            file = listing.one(posixpath.normpath(labels.as_posix()))
            chosen[file.path] = file
    files = tuple(chosen[path] for path in sorted(chosen))
    return DownloadPlan(source.name, source.dataset, source.revision, commit, files)


def download(
    plan: DownloadPlan,
    to: str | Path,
    hub: Hub | FolderHub,
    *,
    connections: int = 4,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Fetch what is missing of a plan; ``on_progress`` gets the bytes done and in total."""
    to = Path(to)
    with only_run(to):
        checksums = _read_checksums(to)
        entry = checksums.setdefault(
            plan.dataset, {"requested": plan.requested, "commit": plan.commit, "files": {}}
        )
        if entry["commit"] != plan.commit:
            raise OlmixError(
                f"{to / CHECKSUMS} pins {plan.dataset} to commit {entry['commit'][:12]}, not "
                f"{plan.commit[:12]}: use another folder, or remove the pin"
            )
        _check_against_known(plan, entry["files"], to)
        _check_space(plan, to)
        fetcher = _Fetcher(hub, plan, to / plan.dataset)
        pool = ThreadPoolExecutor(max_workers=connections)
        try:
            known = entry["files"]
            running = {
                pool.submit(fetcher.fetch, file, known.get(file.path)): file for file in plan.files
            }
            done, saved = 0, time.monotonic()
            for future in as_completed(running):
                file = running[future]
                known[file.path] = {"size": file.size, "sha256": future.result()}
                done += file.size
                on_progress(done, plan.bytes)
                if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    write_json(to / CHECKSUMS, checksums)
                    saved = time.monotonic()
        except OSError as error:  # a full disk, say; what arrived stays for the next run
            raise OlmixError(f"{error.filename or to}: {error.strerror or error}") from error
        finally:
            fetcher.stop()
            pool.shutdown(cancel_futures=True)
            write_json(to / CHECKSUMS, checksums)


def verify_downloads(to: str | Path) -> Iterator[tuple[str, str]]:
    """Read every fetched file again; yields the path and what is wrong with it ("" if nothing)."""
    for dataset, entry in _read_checksums(to).items():
        for path, expected in entry["files"].items():
            local = Path(to) / dataset / path
            if not local.is_file():
                problem = "missing"
            elif local.stat().st_size != expected["size"]:
                problem = f"{local.stat().st_size} bytes, expected {expected['size']}"
            else:
                problem = "" if sha256(local) == expected["sha256"] else "its SHA-256 is another"
            yield f"{dataset}/{path}", problem


def _read_checksums(to: str | Path | None) -> dict:
    if to is None:
        return {}
    path = Path(to) / CHECKSUMS
    return read_json(path) if path.is_file() else {}


def _pinned_commit(source: TextSource, checksums: dict) -> str | None:
    """The commit of the first fetch, so that a moving branch does not mix two versions."""
    entry = checksums.get(source.dataset)
    if entry is None:
        return None
    if entry["requested"] != source.revision:
        raise OlmixError(
            f"source {source.name!r} asks for revision {source.revision!r} of {source.dataset}, "
            f"which {CHECKSUMS} pins to {entry['requested']!r}: use another folder, or remove it"
        )
    return entry["commit"]


def _check_against_known(plan: DownloadPlan, known: dict[str, dict], to: Path) -> None:
    for file in plan.files:
        expected = known.get(file.path)
        if expected and file.sha256 not in (None, expected["sha256"]):
            raise OlmixError(
                f"{plan.dataset}/{file.path}: the hub's SHA-256 {file.sha256[:12]} is not the "
                f"{expected['sha256'][:12]} of the first fetch in {to / CHECKSUMS}"
            )


def _check_space(plan: DownloadPlan, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    missing = sum(file.size for file in plan.files if not (to / plan.dataset / file.path).is_file())
    free = shutil.disk_usage(to).free
    if missing > free:
        raise OlmixError(
            f"{to}: {missing / 1e9:,.1f} GB to fetch for {plan.source!r}, {free / 1e9:,.1f} GB free"
        )


class _Listing:
    """The dataset's files, each folder asked for once."""

    def __init__(self, hub: Hub | FolderHub, dataset: str, commit: str) -> None:
        self._hub, self._dataset, self._commit = hub, dataset, commit
        self._folders: dict[str, list[RemoteFile]] = {}

    def matching(self, pattern: str) -> list[RemoteFile]:
        parts = pattern.split("/")
        plain = next((n for n, part in enumerate(parts[:-1]) if re.search(r"[*?[]", part)), -1)
        folder = "/".join(parts[:-1] if plain < 0 else parts[:plain])
        return [file for file in self._files(folder) if path_matches(file.path, pattern)]

    def one(self, path: str) -> RemoteFile:
        for file in self._files(posixpath.dirname(path)):
            if file.path == path:
                return file
        raise OlmixError(f"{self._dataset}@{self._commit[:12]}: no file {path}")

    def _files(self, folder: str) -> list[RemoteFile]:
        if folder not in self._folders:
            try:
                files = list(self._hub.files(self._dataset, self._commit, folder))
            except NotFoundError:
                files = []  # another glob of the domain may match
            for file in files:
                parts = PurePosixPath(file.path).parts
                if ".." in parts or file.path.startswith("/"):
                    raise OlmixError(f"{self._dataset}: refusing the file name {file.path!r}")
            self._folders[folder] = files
        return self._folders[folder]


class _Fetcher:
    """Brings files of one plan here; `stop` makes every thread leave its file as it is."""

    def __init__(self, hub: Hub | FolderHub, plan: DownloadPlan, root: Path) -> None:
        self._hub, self._plan, self._root = hub, plan, root
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def fetch(self, file: RemoteFile, known: dict | None) -> str:
        """Bring one file here, whole and checked; returns its SHA-256."""
        local = self._root / file.path
        if local.is_file() and local.stat().st_size == file.size:
            if known:
                return known["sha256"]
            found = _checked(local, file)
            if found:
                return found
            log.warning("%s: not what the hub has, it is fetched again", local)
        # Named after its content: bytes of two versions never meet in one file.
        partial = local.with_name(f".{local.name}.{file.content_id[:16]}.part")
        partial.parent.mkdir(parents=True, exist_ok=True)
        for second_try in (False, True):
            self._complete(file, partial)
            found = _checked(partial, file)
            if found and (known is None or known["sha256"] == found):
                partial.replace(local)
                return found
            partial.unlink()
            if not second_try:
                log.warning("%s: arrived damaged, it is fetched once more", local)
        raise OlmixError(
            f"{self._plan.dataset}/{file.path}: arrived damaged twice, its hash is not the "
            f"expected {(known['sha256'] if known else file.content_id)[:16]}"
        )

    def _complete(self, file: RemoteFile, partial: Path) -> None:
        """Append to a partial file until it has its full size; a stalled server is asked again."""
        failures, size = 0, _size(partial)
        while size != file.size:
            reason: object = "the server sent too little"
            if size > file.size:
                partial.unlink()
                size = -1
            try:
                self._append(file, partial, max(size, 0))
            except urllib.error.HTTPError as error:
                reason = error
                if error.code == 416:  # the server has fewer bytes than we do
                    partial.unlink(missing_ok=True)
            except PASSING_FAULTS as error:
                reason = error
            grown = _size(partial)
            failures = 0 if grown > size else failures + 1
            size = grown
            if failures > self._hub.retries or self._stopped.is_set():
                raise OlmixError(
                    f"{self._plan.dataset}/{file.path}: stopped at {max(size, 0)} of {file.size} "
                    f"bytes ({reason}); run the command again to continue from there"
                )
            if size != file.size:
                self._hub.pause(failures, reason)

    def _append(self, file: RemoteFile, partial: Path, start: int) -> None:
        plan = self._plan
        with self._hub.open(plan.dataset, plan.commit, file.path, start) as response:
            # A server that ignores Range answers 200 with the whole file.
            resumed = start > 0 and response.status == 206
            with partial.open("ab" if resumed else "wb") as target:
                while not self._stopped.is_set() and (data := response.read(CHUNK_BYTES)):
                    target.write(data)
                target.flush()
                os.fsync(target.fileno())


def _size(path: Path) -> int:
    """The size of a file, -1 when there is none (an empty file is there, too)."""
    return path.stat().st_size if path.exists() else -1


def _checked(path: Path, file: RemoteFile) -> str | None:
    """The SHA-256 of a file if its content is what the hub promised, else None."""
    if path.stat().st_size != file.size:
        return None
    found = sha256(path)
    if file.sha256:
        return found if found == file.sha256 else None
    # Small files have no SHA-256 on the hub, only git's hash of a blob.
    blob = hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    blob.update(path.read_bytes())
    return found if blob.hexdigest() == file.git_sha1 else None
