"""Tokenised domains on disk: flat integer shards beside a manifest that counts them exactly.

A domain is a folder with ``manifest.json`` and shards ``00000.bin``, ... of little-endian integers
(uint16 when the vocabulary allows it, else uint32). Every document is followed by the tokenizer's
end-of-text id. A corpus is a folder of domains that share one tokenizer.
"""

import difflib
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, sha256, write_json

__all__ = ["Corpus", "StoreWriter", "TokenStore", "TokenizerInfo", "folder_name", "join_stores"]

MANIFEST = "manifest.json"
DTYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}


def folder_name(domain: str) -> str:
    """The folder of a domain: its name with everything outside ``[A-Za-z0-9._-]`` as ``-``."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", domain)
    if not name or name.startswith("."):
        raise OlmixError(
            f"domain name {domain!r}: expected a non-empty name, not starting with '.'"
        )
    return name


@dataclass(frozen=True)
class TokenizerInfo:
    """What a token store remembers of the tokenizer that made it."""

    sha256: str
    vocab_size: int
    end_of_text: int

    def __post_init__(self) -> None:
        """Refuse an end-of-text id the vocabulary does not have."""
        if not 0 <= self.end_of_text < self.vocab_size <= 2**32:
            raise OlmixError(
                f"tokenizer: end-of-text id {self.end_of_text} with a vocabulary of "
                f"{self.vocab_size}: expected 0 <= id < vocabulary size <= 2^32"
            )

    @property
    def dtype(self) -> str:
        """The smallest integer type that holds every id."""
        return "uint16" if self.vocab_size <= 2**16 else "uint32"


class StoreWriter:
    """Write one tokenised domain, whole or not at all.

    ::

        with StoreWriter(folder, domain="arxiv", tokenizer=info) as writer:
            writer.add(token_ids, bytes=len(text.encode()))

    The writer appends the end-of-text id to each document. Shards are built in a hidden sibling
    folder that takes the place of ``folder`` when the body ends without an exception.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        domain: str,
        tokenizer: TokenizerInfo,
        shard_tokens: int = 2**28,
    ) -> None:
        """Prepare to write ``domain`` into ``folder``; a shard ends at ``shard_tokens`` or more."""
        folder_name(domain)
        if shard_tokens < 1:
            raise OlmixError(f"shard_tokens is {shard_tokens}: expected at least 1")
        self.folder = Path(folder)
        self.domain = domain
        self.tokenizer = tokenizer
        self.shard_tokens = shard_tokens
        self._dtype = DTYPES[tokenizer.dtype]
        self._temporary = self.folder.with_name(f".{self.folder.name}.{uuid.uuid4().hex[:12]}.tmp")
        self._shards: list[dict[str, Any]] = []
        self._file: BinaryIO | None = None
        self._hash = hashlib.sha256()

    def __enter__(self) -> Self:
        """Create the hidden folder."""
        self._temporary.mkdir(parents=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the finished folder in place, or remove every trace of an unfinished one."""
        try:
            self._close_shard()
            if kind is None:
                self._finish()
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def add(self, token_ids: Sequence[int] | np.ndarray, bytes: int) -> None:
        """Add one document: its ids (without end-of-text) and the UTF-8 bytes of its text."""
        ids = np.asarray(token_ids, dtype=np.int64).reshape(-1)
        if ids.size and not 0 <= ids.min() <= ids.max() < self.tokenizer.vocab_size:
            wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
            raise OlmixError(
                f"domain {self.domain!r}: token id {wrong} is outside the vocabulary of "
                f"{self.tokenizer.vocab_size}"
            )
        packed = np.append(ids, self.tokenizer.end_of_text).astype(self._dtype)
        self.add_packed(packed, bytes=bytes, documents=1)

    def add_packed(self, packed: np.ndarray, *, bytes: int, documents: int) -> None:
        """Add ids that are already packed (end-of-text after each document), as they are.

        A block goes into one shard; the tokenizer's parts are added block by block this way.
        """
        file = self._file
        if file is None or self._shards[-1]["tokens"] >= self.shard_tokens:
            file = self._open_shard()
        data = np.ascontiguousarray(packed, dtype=self._dtype).data
        file.write(data)
        self._hash.update(data)
        shard = self._shards[-1]
        shard["tokens"] += len(packed)
        shard["bytes"] += bytes
        shard["documents"] += documents

    def _open_shard(self) -> BinaryIO:
        self._close_shard()
        name = f"{len(self._shards):05d}.bin"
        self._file = (self._temporary / name).open("wb")
        self._hash = hashlib.sha256()
        self._shards.append({"file": name, "tokens": 0, "bytes": 0, "documents": 0})
        return self._file

    def _close_shard(self) -> None:
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._file = None
            self._shards[-1]["sha256"] = self._hash.hexdigest()

    def _finish(self) -> None:
        total = {
            key: sum(shard[key] for shard in self._shards)
            for key in ("tokens", "bytes", "documents")
        }
        if not total["documents"]:
            raise OlmixError(f"domain {self.domain!r} is empty: expected at least one document")
        manifest = {
            "domain": self.domain,
            "dtype": self.tokenizer.dtype,
            **total,
            "tokenizer": asdict(self.tokenizer),
            "shards": self._shards,
        }
        write_json(self._temporary / MANIFEST, manifest)
        # A folder cannot be renamed onto a full one: the old store steps aside first.
        old = self._temporary.with_name(self._temporary.name + ".old")
        if self.folder.exists():
            self.folder.rename(old)
        self._temporary.rename(self.folder)
        shutil.rmtree(old, ignore_errors=True)


def join_stores(folders: Sequence[str | Path], out: str | Path) -> dict[str, Any]:
    """One store of several of the same domain, by hard links: nothing is copied.

    Where the file system has none across the two places, links by name take their place. Returns
    the manifest.
    """
    stores = [TokenStore.open(folder) for folder in folders]
    first, out = stores[0], Path(out)
    for store in stores[1:]:
        if (store.domain, store.tokenizer) != (first.domain, first.tokenizer):
            raise OlmixError(f"{store.folder}: not of the domain and tokenizer of {first.folder}")
    temporary = out.with_name(f".{out.name}.{uuid.uuid4().hex[:12]}.tmp")
    temporary.mkdir(parents=True)
    shards: list[dict[str, Any]] = []
    for store in stores:
        for shard in store.manifest["shards"]:
            name = f"{len(shards):05d}.bin"
            _link(store.folder / shard["file"], temporary / name)
            shards.append({**shard, "file": name})
    keys = ("tokens", "bytes", "documents")
    total = {key: sum(shard[key] for shard in shards) for key in keys}
    manifest = {**first.manifest, **total, "shards": shards}
    write_json(temporary / MANIFEST, manifest)
    shutil.rmtree(out, ignore_errors=True)
    temporary.rename(out)
    return manifest


def _link(there: Path, here: Path) -> None:
    try:
        here.hardlink_to(there)
    except OSError:
        here.symlink_to(there.resolve())


class TokenStore:
    """One tokenised domain, read by position as if its shards were a single stream."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Wrap a checked manifest; use `TokenStore.open`."""
        self.folder = folder
        self.manifest = manifest
        self.domain: str = manifest["domain"]
        self.tokens: int = manifest["tokens"]
        self.bytes: int = manifest["bytes"]
        self.documents: int = manifest["documents"]
        self.tokenizer = TokenizerInfo(**manifest["tokenizer"])
        self._dtype = DTYPES[manifest["dtype"]]
        sizes = [shard["tokens"] for shard in manifest["shards"]]
        self._offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._maps: dict[int, np.ndarray] = {}

    @classmethod
    def open(cls, folder: str | Path) -> "TokenStore":
        """Open a domain's folder; shard sizes must be those the manifest promises."""
        folder = Path(folder)
        manifest = read_json(folder / MANIFEST)
        try:
            store = cls(folder, manifest)
            shards = [
                (folder / shard["file"], int(shard["tokens"])) for shard in manifest["shards"]
            ]
        except (KeyError, TypeError) as error:
            raise OlmixError(
                f"{folder / MANIFEST}: not a token manifest (missing or odd: {error})"
            ) from error
        for path, tokens in shards:
            expected = tokens * store._dtype.itemsize
            if not path.is_file():
                raise OlmixError(f"{path}: missing shard of domain {store.domain!r}")
            if path.stat().st_size != expected:
                raise OlmixError(
                    f"{path}: truncated or altered shard, {path.stat().st_size} bytes instead of "
                    f"the {expected} its manifest promises"
                )
        if store.tokens != store._offsets[-1]:
            raise OlmixError(
                f"{folder / MANIFEST}: {store.tokens} tokens in total, "
                f"but its shards hold {store._offsets[-1]}"
            )
        return store

    def verify(self) -> None:
        """Check every shard against its SHA-256 (reads all of them)."""
        for shard in self.manifest["shards"]:
            path = self.folder / shard["file"]
            if sha256(path) != shard["sha256"]:
                raise OlmixError(f"{path}: content differs from the SHA-256 in its manifest")

    def read(self, start: int, stop: int) -> np.ndarray:
        """The ids at positions ``start`` to ``stop`` (exclusive), across shards."""
        if not 0 <= start <= stop <= self.tokens:
            raise OlmixError(
                f"domain {self.domain!r}: positions {start} to {stop} asked, it has {self.tokens}"
            )
        pieces = []
        shard = int(np.searchsorted(self._offsets, start, side="right")) - 1
        while start < stop:
            offset, end = int(self._offsets[shard]), int(self._offsets[shard + 1])
            until = min(stop, end)
            pieces.append(self._shard(shard)[start - offset : until - offset])
            start, shard = until, shard + 1
        # Always a copy: nobody holds on to a memory map by accident.
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=self._dtype)

    def _shard(self, index: int) -> np.ndarray:
        if index not in self._maps:
            path = self.folder / self.manifest["shards"][index]["file"]
            # A plain view of the map: slicing an np.memmap itself is several times slower.
            self._maps[index] = np.memmap(path, dtype=self._dtype, mode="r").view(np.ndarray)
        return self._maps[index]


class Corpus:
    """Tokenised domains that share one tokenizer, by name."""

    def __init__(self, stores: dict[str, TokenStore], root: Path) -> None:
        """Wrap open stores; use `Corpus.open`."""
        self.root = root
        self._stores = dict(sorted(stores.items()))
        first, *others = self._stores.values()
        for other in others:
            if other.tokenizer != first.tokenizer:
                raise OlmixError(
                    f"{root}: domains {first.domain!r} and {other.domain!r} were tokenised by "
                    f"different tokenizers (sha256 {first.tokenizer.sha256[:12]} and "
                    f"{other.tokenizer.sha256[:12]}): expected one"
                )
        self.tokenizer = first.tokenizer

    @classmethod
    def open(cls, root: str | Path) -> "Corpus":
        """Open every sub-folder of ``root`` that has a manifest."""
        root = Path(root)
        if not root.is_dir():
            raise OlmixError(f"{root}: no such corpus folder")
        stores: dict[str, TokenStore] = {}
        for path in sorted(root.glob(f"*/{MANIFEST}")):
            if path.parent.name.startswith("."):
                continue  # being written
            store = TokenStore.open(path.parent)
            if store.domain in stores:
                raise OlmixError(
                    f"{root}: domain {store.domain!r} is in two folders, "
                    f"{stores[store.domain].folder.name} and {path.parent.name}"
                )
            stores[store.domain] = store
        if not stores:
            raise OlmixError(f"{root}: no tokenised domain here (no sub-folder has a {MANIFEST})")
        return cls(stores, root)

    @property
    def domains(self) -> list[str]:
        """The names of the domains, sorted."""
        return list(self._stores)

    @property
    def token_counts(self) -> dict[str, int]:
        """The natural sizes: tokens available in each domain."""
        return {domain: store.tokens for domain, store in self._stores.items()}

    @property
    def fingerprint(self) -> str:
        """A hash of all manifests: the same exactly when the tokens are the same."""
        return content_hash({domain: store.manifest for domain, store in self._stores.items()})

    def __getitem__(self, domain: str) -> TokenStore:
        """The store of a domain; an unknown name is refused with the closest known ones."""
        if domain in self._stores:
            return self._stores[domain]
        close = difflib.get_close_matches(domain, self._stores, n=3) or self.domains[:3]
        raise OlmixError(
            f"unknown domain {domain!r} in {self.root}: closest are {', '.join(close)} "
            f"(of {len(self._stores)})"
        )
