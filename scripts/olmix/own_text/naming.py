"""Which domains a folder holds: a sub-folder or file each, or patterns that name them."""

import glob
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from olmix.domains import RESERVED_NAMES
from olmix.errors import OlmixError

__all__ = [
    "domain_files",
    "domains_of_folder",
    "domains_of_patterns",
    "matching_patterns",
    "plain_name",
]

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]*")


def plain_name(name: str) -> str:
    """A domain's name that every table, path and figure can hold, from any folder's name.

    A plain name stays. Any other has its odd characters replaced, and four characters of a hash of
    the whole behind it, so that two odd names never become one.
    """
    if _PLAIN.fullmatch(name) and name not in RESERVED_NAMES:
        return name
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    kept = re.sub(r"[^A-Za-z0-9]+", "_", folded).strip("_") or "domain"
    return f"{kept}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:4]}"


def domains_of_folder(folder: str | Path) -> dict[str, Path]:
    """The sub-folder or file of each domain; hidden ones are left out."""
    folder = Path(folder)
    if not folder.is_dir():
        kind = "is a file" if folder.exists() else "no such folder"
        raise OlmixError(f"{folder}: {kind}, expected a folder with a sub-folder per domain")
    found: dict[str, Path] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or not (entry.is_dir() or entry.is_file()):
            continue
        name = plain_name(entry.name if entry.is_dir() else entry.name.split(".")[0])
        if name in found:
            raise OlmixError(f"{found[name]} and {entry} are both domain '{name}': rename one")
        found[name] = entry
    if not found:
        raise OlmixError(f"{folder}: is empty, expected a sub-folder (or a file) per domain")
    return found


def domains_of_patterns(options: Iterable[str]) -> dict[str, list[str]]:
    """The patterns of each domain, from ``NAME=GLOB`` options; a name may come several times.

    Patterns come out absolute: the next command may be called from another folder.
    """
    found: dict[str, list[str]] = {}
    for option in options:
        name, equals, pattern = option.partition("=")
        if not (name and equals and pattern):
            raise OlmixError(f"--domain {option}: expected NAME=GLOB")
        if plain_name(name) != name:
            raise OlmixError(
                f"--domain {option}: name {name!r}, expected letters, digits and _.:+- "
                f"(not {', '.join(RESERVED_NAMES)})"
            )
        here = glob.escape(str(Path.cwd()))  # a folder's own name is no pattern
        expanded = os.path.expanduser(pattern)  # noqa: PTH111 (a pattern is no path)
        found.setdefault(name, []).append(f"{here}/{expanded}" if expanded[0] != "/" else expanded)
    return found


def matching_patterns(options: Iterable[str]) -> dict[str, list[str]]:
    """What `domains_of_patterns` gives, refused where a pattern matches no file."""
    found = domains_of_patterns(options)
    for name, patterns in found.items():
        if not domain_files(patterns):
            raise OlmixError(f"--domain {name}: no file matches {' or '.join(patterns)}")
    return found


def domain_files(place: Path | list[str]) -> list[Path]:
    """Every file of a domain in a fixed order: below a folder, the file itself, or by patterns.

    Hidden files and folders are left out; links to folders are followed, each folder once, but
    not those to a folder that the domain itself lies in.
    """
    if isinstance(place, list):
        matches = {
            Path(match)
            for pattern in place
            for match in glob.glob(pattern, recursive=True)  # noqa: PTH207 (Path.glob is relative)
        }
        return sorted({file for match in matches for file in _below(match)})
    return sorted(_below(place))


def _below(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield place
        return
    seen = {_identity(folder) for folder in place.resolve().parents}
    for root, folders, files in os.walk(place, followlinks=True):
        if _identity(Path(root)) in seen:
            folders.clear()
            continue
        seen.add(_identity(Path(root)))
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(root) / name for name in files if not name.startswith("."))


def _identity(folder: Path) -> tuple[int, int]:
    """What tells a folder from any other, whatever links lead to it."""
    stat = folder.stat()
    return stat.st_dev, stat.st_ino
