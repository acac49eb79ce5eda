"""Talking to the Hugging Face hub, or to a server that answers like it: revisions, lists, bytes."""

import http.client
import json
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from olmix.errors import OlmixError
from olmix.files import sha256

__all__ = ["FolderHub", "Hub", "NotFoundError", "RemoteFile", "open_hub"]

PUBLIC = "https://huggingface.co"
TIMEOUT_SECONDS = 60
PASSING_FAULTS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)


LONGEST_PAUSE = 600.0
"""Seconds that a server may ask to be left alone for."""


class NotFoundError(OlmixError):
    """The hub has no such dataset, revision, folder or file."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a dataset: its size and the hash the hub keeps of it.

    Large files have a SHA-256; small ones only git's SHA-1 of a blob.
    """

    path: str
    size: int
    sha256: str | None
    git_sha1: str

    @property
    def content_id(self) -> str:
        """The hash by which the hub names the content of this file."""
        return self.sha256 or self.git_sha1


def asked_pause(reason: object) -> float:
    """Seconds after which a server that got too many requests wants the next; 0 if it says none.

    The hub counts them over five minutes, and says in ``RateLimit: "api";r=0;t=55`` how many of
    these are left; others say ``Retry-After: 55``.
    """
    if not isinstance(reason, urllib.error.HTTPError) or reason.code not in (429, 503):
        return 0.0
    told = reason.headers.get("Retry-After", "").strip()
    if not told.isdigit():
        found = re.search(r"\bt=(\d+)", reason.headers.get("RateLimit", ""))
        told = found.group(1) if found else "0"
    return min(float(told), LONGEST_PAUSE)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but send the token on only to the server it is meant for."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        authorization = req.unredirected_hdrs.get("Authorization")
        if new is not None and authorization and _origin(newurl) == _origin(req.full_url):
            new.add_unredirected_header("Authorization", authorization)
        return new


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc


class Hub:
    """A hub at ``endpoint``. Passing faults are retried with growing pauses; others are told."""

    def __init__(
        self,
        endpoint: str = PUBLIC,
        token: str | None = None,
        *,
        retries: int = 5,
        pause_seconds: float = 1.0,
    ) -> None:
        """Name the server; nothing is sent yet."""
        scheme, host = _origin(endpoint)
        if scheme not in ("http", "https") or not host:
            raise OlmixError(f"endpoint {endpoint!r}: expected an http or https address")
        if "@" in host:  # errors name addresses, and logs keep errors
            raise OlmixError(
                f"endpoint at {host.rpartition('@')[2]}: holds a user or password; put a token"
                " into the environment variable HF_TOKEN instead"
            )
        self.endpoint = endpoint.rstrip("/")
        self.retries = retries
        self.pause_seconds = pause_seconds
        self._token = token
        self._opener = urllib.request.build_opener(_Redirects)

    def revision(self, dataset: str, revision: str) -> str:
        """The commit that a branch or tag of a dataset stands for now."""
        quoted = urllib.parse.quote(revision, safe="")
        answer, _ = self._json(f"{self.endpoint}/api/datasets/{dataset}/revision/{quoted}", dataset)
        return answer["sha"]

    def files(self, dataset: str, commit: str, folder: str = "") -> Iterator[RemoteFile]:
        """Every file of a dataset under a folder, page after page."""
        path = f"/{urllib.parse.quote(folder)}" if folder else ""
        base = f"{self.endpoint}/api/datasets/{dataset}/tree/{commit}{path}"
        url: str | None = f"{base}?recursive=true"
        while url:
            entries, link = self._json(url, dataset)
            for entry in entries:
                if entry["type"] == "file":
                    large = entry.get("lfs") or {}
                    size = large.get("size", entry["size"])
                    yield RemoteFile(entry["path"], size, large.get("oid"), entry["oid"])
            following = re.search(r'<([^>]+)>;\s*rel="next"', link or "")
            url = urllib.parse.urljoin(url, following.group(1)) if following else None

    def open(self, dataset: str, commit: str, path: str, start: int = 0) -> Any:
        """The bytes of a file from ``start`` on: an HTTP response, or a passing fault."""
        url = f"{self.endpoint}/datasets/{dataset}/resolve/{commit}/{urllib.parse.quote(path)}"
        headers = {"Range": f"bytes={start}-"} if start else {}
        return self._request(url, dataset, headers)

    def model_file(self, repository: str, revision: str, path: str) -> bytes:
        """A small file of a repository of models, whole."""
        url = f"{self.endpoint}/{repository}/resolve/{revision}/{urllib.parse.quote(path)}"
        for attempt in range(self.retries + 1):
            try:
                with self._request(url, repository) as response:
                    return response.read()
            except PASSING_FAULTS as error:
                if attempt == self.retries:
                    raise OlmixError(f"{url}: no answer ({error})") from error
                self.pause(attempt, error)
        raise AssertionError("unreachable")

    def pause(self, attempt: int, reason: object = None) -> None:
        """Wait before the next attempt, for as long as the server that refused one has asked."""
        time.sleep(max(self.pause_seconds * 2**attempt, asked_pause(reason)))

    def _json(self, url: str, dataset: str) -> tuple[Any, str | None]:
        for attempt in range(self.retries + 1):
            try:
                with self._request(url, dataset) as response:
                    return json.load(response), response.headers.get("Link")
            except PASSING_FAULTS as error:
                if attempt == self.retries:
                    raise OlmixError(f"{url}: no answer ({error})") from error
                self.pause(attempt, error)
            except ValueError as error:
                raise OlmixError(f"{url}: answered something that is not JSON") from error
        raise AssertionError("unreachable")

    def _request(self, url: str, dataset: str, headers: dict[str, str] | None = None) -> Any:
        request = urllib.request.Request(url, headers={"User-Agent": "olmix", **(headers or {})})
        if self._token and _origin(url) == _origin(self.endpoint):
            request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            return self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (401, 403):
                raise OlmixError(
                    f"{dataset}: the hub refuses access (HTTP {error.code}); accept the dataset's "
                    "terms on its page and put a token into the environment variable HF_TOKEN"
                ) from None
            if error.code == 404:
                raise NotFoundError(f"{url}: not found (HTTP 404)") from None
            if error.code in (408, 416, 429) or error.code >= 500:
                raise
            raise OlmixError(f"{url}: refused (HTTP {error.code})") from None


class FolderHub:
    """A folder laid out like a hub, ``<root>/<dataset>/<path>``: a mirror, or a rehearsal's text.

    It answers like `Hub`, so that what reads it goes through the same steps.
    """

    retries = 0

    def __init__(self, root: str | Path) -> None:
        """Name the folder; it must be there."""
        self.root = Path(root)
        if not self.root.is_dir():
            raise OlmixError(f"{root}: no such folder, expected a mirror of the hub")

    def revision(self, dataset: str, revision: str) -> str:
        """The revision that is asked for: a folder holds one."""
        return revision

    def files(self, dataset: str, commit: str, folder: str = "") -> Iterator[RemoteFile]:
        """Every file of a dataset under a folder, with its hashes."""
        root = self.root / dataset
        if not (root / folder).is_dir():
            raise NotFoundError(f"{root / folder}: no such folder")
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(root).as_posix()
                yield RemoteFile(name, path.stat().st_size, sha256(path), "")

    def open(self, dataset: str, commit: str, path: str, start: int = 0) -> "_LocalBytes":
        """The bytes of a file from ``start`` on."""
        return _LocalBytes(self.root / dataset / path, start)

    def model_file(self, repository: str, revision: str, path: str) -> bytes:
        """A small file of a repository of models, whole."""
        found = self.root / repository / path
        if not found.is_file():
            raise NotFoundError(f"{found}: no such file")
        return found.read_bytes()

    def pause(self, attempt: int, reason: object = None) -> None:
        """A folder needs no patience."""


class _LocalBytes:
    """A file opened as an HTTP response is: with a status, readable, closed by ``with``."""

    def __init__(self, path: Path, start: int) -> None:
        self.status = 206 if start else 200
        self._file = path.open("rb")
        self._file.seek(start)

    def __enter__(self) -> "_LocalBytes":
        return self

    def __exit__(self, *trace: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        return self._file.read(size)


def open_hub(where: str, token: str | None = None) -> Hub | FolderHub:
    """The hub at an address, or the mirror of it in a folder."""
    return Hub(where, token) if where.startswith(("http://", "https://")) else FolderHub(where)
