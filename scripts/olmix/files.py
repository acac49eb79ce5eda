"""Files that are written whole or not at all, and their fingerprints."""

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olmix.errors import OlmixError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "content_hash",
    "read_json",
    "replacing",
    "sha256",
    "write_csv",
    "write_json",
    "write_text",
]


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it onto ``path`` only if the body succeeds.

    A reader never sees a half-written file, and a crash or a full disk leaves the old one.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The temporary name keeps the suffix: some writers choose their format by it.
    temporary = path.with_name(f".{uuid.uuid4().hex[:12]}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all; NaN and infinity are refused."""
    try:
        text = json.dumps(value, indent=1, allow_nan=False)
    except ValueError as error:
        raise OlmixError(f"{path}: refusing to write a value JSON cannot hold ({error})") from error
    write_text(path, text + "\n")


def write_csv(path: str | Path, frame: "pd.DataFrame") -> None:
    """Write a table without its row numbers, whole or not at all."""
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False)


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a missing or malformed one is an `OlmixError` naming the place."""
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None
    except OSError as error:
        raise OlmixError(f"{path}: cannot be read ({error})") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise OlmixError(f"{path}: not valid JSON ({error})") from error


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, as hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: Any) -> str:
    """A short fingerprint of a JSON-able value, the same for equal values in any key order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
