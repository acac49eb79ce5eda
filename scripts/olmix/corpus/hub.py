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
from typing import IO, Any

from olmix.errors import OlmixError

__all__ = ["Hub", "NotFoundError", "RemoteFile"]

PUBLIC = "https://huggingface.co"
TIMEOUT_SECONDS = 60
PASSING_FAULTS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)


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

    def pause(self, attempt: int) -> None:
        """Wait before the next attempt."""
        time.sleep(self.pause_seconds * 2**attempt)

    def _json(self, url: str, dataset: str) -> tuple[Any, str | None]:
        for attempt in range(self.retries + 1):
            try:
                with self._request(url, dataset) as response:
                    return json.load(response), response.headers.get("Link")
            except PASSING_FAULTS as error:
                if attempt == self.retries:
                    raise OlmixError(f"{url}: no answer ({error})") from error
                self.pause(attempt)
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
