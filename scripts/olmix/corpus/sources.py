"""Where text comes from and which domain each document belongs to.

A source is a set of files. Its documents belong to one domain, or each domain has files of its own
(a folder per topic), or each document says its domain: by a column, or by a file of labels beside
the file of documents. Sources are named in a YAML file (``config/corpora.yaml`` is one)::

    sources:
      papers:
        paths: [/data/papers/*.jsonl.gz]      # one domain, named after the source
      code:
        paths: {code:C: [/data/c/*.txt], code:Go: [/data/go/*.txt]}
      web:
        paths: [/data/web/*.parquet]
        column: topic                         # or labels: ../topics/{stem}.npy
        domains: {web:games: games, web:news: [politics, world]}
"""

import fnmatch
import glob
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from olmix.config_files import check_keys, read_config
from olmix.corpus.edits import EDITS
from olmix.corpus.store import folder_name
from olmix.corpus.text import text_format
from olmix.errors import OlmixError

__all__ = [
    "TextSource",
    "find_files",
    "path_matches",
    "read_labels",
    "read_sources",
    "source_from_patterns",
]

# owner/name: it is part of addresses and of the paths of what arrives.
DATASET = r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?"
KEYS = (
    "access",
    "classifier",
    "column",
    "dataset",
    "domains",
    "edit",
    "files",
    "files_of",
    "labels",
    "licence",
    "note",
    "paths",
    "revision",
    "shards",
    "text_field",
    "tokens",
    "unavailable",
    "verified",
)


@dataclass(frozen=True)
class TextSource:
    """Files, and the rule that gives each of their documents a domain."""

    name: str
    # Files of each domain, or of all domains together under "" when documents are routed.
    patterns: dict[str, tuple[str, ...]]
    text_field: str = "text"
    column: str | None = None
    labels: str | None = None
    routes: dict[Any, str] = field(default_factory=dict)  # value of column or label -> domain
    dataset: str | None = None
    revision: str = "main"
    unavailable: str | None = None
    local: bool = True  # patterns are paths here, not paths inside the dataset
    # Makes the labels: its repository, revision and whether that may bring code.
    classifier: Mapping[str, Any] | None = None
    edit: str | None = None  # a name of `olmix.corpus.edits`
    files_of: str | None = None  # the source whose downloaded files it reads, too
    shards: int = 1  # over how many jobs its files are spread
    tokens: float | None = None  # about how many there are to fetch
    licence: str = "not stated"
    access: str = "open"

    @property
    def domains(self) -> list[str]:
        """The domains this source feeds."""
        return sorted(set(self.routes.values()) if self.routes else self.patterns)

    def files(self, downloads: str | Path | None = None) -> dict[str, list[Path]]:
        """The files of each domain (or of "" when routed), found on this machine."""
        root = ""
        if self.unavailable:
            raise OlmixError(
                f"source {self.name!r} has no public copy to read ({self.unavailable}): "
                "give your own files as 'paths' in its entry"
            )
        if not self.local:
            if downloads is None:
                raise OlmixError(
                    f"source {self.name!r} has no paths: give them in its entry, or the folder "
                    "it was downloaded to with --downloads"
                )
            root = f"{glob.escape(str(Path(downloads) / str(self.dataset)))}/"
        return {
            domain: find_files([root + pattern for pattern in patterns], domain or self.name)
            for domain, patterns in self.patterns.items()
        }

    def only(self, files: Mapping[str, list[Path]]) -> "TextSource":
        """The same source with some files, by domain; domains without any are left out."""
        kept = {
            domain: tuple(glob.escape(str(path)) for path in paths)
            for domain, paths in files.items()
            if paths
        }
        return replace(self, patterns=kept, local=True)

    def labels_of(self, path: Path) -> Path | None:
        """The file of labels that goes with a file of documents."""
        if self.labels is None:
            return None
        return path.parent / self.labels.format(stem=path.name.split(".")[0])


def find_files(patterns: list[str], name: str) -> list[Path]:
    """The files that paths and globs name, each once, in sorted order; none is an error."""
    found: set[Path] = set()
    for pattern in patterns:
        # Not Path.glob: the pattern may be absolute or relative, as the user typed it.
        matches = [Path(match) for match in glob.glob(pattern, recursive=True)]  # noqa: PTH207
        if not matches and not glob.has_magic(pattern):
            raise OlmixError(f"{pattern}: no such file (named by {name!r})")
        found.update(match for match in matches if match.is_file())
    if not found:
        raise OlmixError(f"{name!r}: no file matches {' or '.join(patterns)}")
    for path in found:
        text_format(path)
    return sorted(found)


def path_matches(path: str, pattern: str) -> bool:
    """Whether a path of a dataset matches a glob, by the rules of local files (** is any depth)."""
    return _parts_match(path.split("/"), pattern.split("/"))


def _parts_match(path: list[str], pattern: list[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        return any(_parts_match(path[skipped:], pattern[1:]) for skipped in range(len(path)))
    return fnmatch.fnmatchcase(path[0], pattern[0]) and _parts_match(path[1:], pattern[1:])


def source_from_patterns(domains: Mapping[str, list[str]], text_field: str = "text") -> TextSource:
    """A source of the domains and globs of a command line."""
    for domain in domains:
        folder_name(domain)
    patterns = {domain: tuple(globs) for domain, globs in domains.items()}
    return TextSource("command line", patterns, text_field=text_field)


def read_sources(path: str | Path, names: list[str] | None = None) -> list[TextSource]:
    """The sources of a YAML file, or those of them that ``names`` lists."""
    config = read_config(path)
    check_keys(config, ("sources",), ("sources",), where=str(path))
    entries = config["sources"]
    if not isinstance(entries, dict) or not entries:
        raise OlmixError(f"{path}: 'sources' is empty, expected a mapping of names to entries")
    for name in names or []:
        if name not in entries:
            raise OlmixError(f"{path}: no source {name!r}, it has {', '.join(entries)}")
    return [
        _source(name, entry, where=f"{path}: source {name!r}")
        for name, entry in entries.items()
        if not names or name in names
    ]


def _source(name: str, entry: Any, where: str) -> TextSource:
    if not isinstance(entry, dict):
        raise OlmixError(f"{where}: holds {type(entry).__name__}, expected a mapping")
    check_keys(entry, KEYS, where=where)
    local = "paths" in entry
    if not (local or "dataset" in entry or "unavailable" in entry):
        raise OlmixError(f"{where}: expected 'paths' or a 'dataset' to download")
    routed = "column" in entry or "labels" in entry
    if routed and ("column" in entry) == ("labels" in entry):
        raise OlmixError(f"{where}: has both 'column' and 'labels', expected one")
    dataset = entry.get("dataset")
    if dataset is not None and not re.fullmatch(DATASET, str(dataset)):
        raise OlmixError(f"{where}: dataset {dataset!r}, expected one like allenai/dolma3")
    domains = entry.get("domains", {})
    routes = _routes(domains, where) if routed else {}
    if local:
        alone = "" if routed else next(iter(domains), name) if len(domains) < 2 else None
        patterns = _patterns(entry["paths"], alone, where)
    elif "unavailable" in entry:
        patterns = {} if routed else {str(domain): () for domain in domains or [name]}
    else:
        alone = "" if routed else None
        patterns = _patterns(entry.get("files") if routed else domains, alone, where)
    for domain in routes.values() if routed else patterns:
        folder_name(domain)
    return TextSource(
        name=name,
        patterns=patterns,
        text_field=str(entry.get("text_field", "text")),
        column=entry.get("column"),
        labels=entry.get("labels"),
        routes=routes,
        dataset=dataset,
        revision=str(entry.get("revision", "main")),
        unavailable=None if local else entry.get("unavailable"),
        local=local,
        classifier=_classifier(entry, where),
        edit=_edit(entry.get("edit"), where),
        files_of=None if local else entry.get("files_of"),
        shards=_count(entry.get("shards", 1), where),
        tokens=entry.get("tokens"),
        licence=str(entry.get("licence", "not stated")),
        access=str(entry.get("access", "open")),
    )


def _classifier(entry: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    given = entry.get("classifier")
    if given is None:
        return None
    keys = ("repository", "revision", "remote_code")
    if not isinstance(given, dict) or "labels" not in entry:
        raise OlmixError(f"{where}: a classifier needs 'repository', and 'labels' to write")
    check_keys(given, keys, ("repository",), where=f"{where}, classifier")
    return dict(given)


def _edit(name: Any, where: str) -> str | None:
    if name is not None and name not in EDITS:
        raise OlmixError(f"{where}: edit {name!r}, expected one of {', '.join(EDITS)}")
    return name


def _count(value: Any, where: str) -> int:
    if type(value) is not int or value < 1:
        raise OlmixError(f"{where}: shards is {value!r}, expected 1 or more")
    return value


def _routes(domains: Any, where: str) -> dict[Any, str]:
    if not isinstance(domains, dict) or not domains:
        raise OlmixError(f"{where}: 'domains' is missing, expected a mapping of domains to values")
    routes: dict[Any, str] = {}
    for domain, values in domains.items():
        for value in values if isinstance(values, list) else [values]:
            if value in routes:
                raise OlmixError(f"{where}: value {value!r} leads to two domains")
            routes[value] = str(domain)
    return routes


def _patterns(given: Any, alone: str | None, where: str) -> dict[str, tuple[str, ...]]:
    """Globs by domain. ``alone`` is the domain of globs without one, None where each needs its."""
    if isinstance(given, dict) and alone != "":
        found = {str(domain): _texts(globs, where) for domain, globs in given.items()}
    elif isinstance(given, list | str) and alone is not None:
        found = {alone: _texts(given, where)}
    else:
        expected = "a list of globs" if alone == "" else "a mapping of domains to globs"
        raise OlmixError(f"{where}: files are {type(given).__name__}, expected {expected}")
    if not found or not all(found.values()):
        raise OlmixError(f"{where}: names no files")
    return found


def _texts(value: Any, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise OlmixError(f"{where}: {value!r} is not a list of file names or globs")
    return tuple(values)


def read_labels(path: Path) -> np.ndarray:
    """The labels of a file of documents, one per line."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file of labels") from None
    except ValueError as error:
        raise OlmixError(f"{path}: not a file of labels ({error})") from error
