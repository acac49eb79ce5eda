"""The demonstration's text: what every machine with this environment has, by pinned version.

The packages of ``envs/requirements.lock`` bring code in several languages, documentation, licences,
data, and files that nobody would want to learn from. Each kind is a domain of its own.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from olmix.errors import OlmixError
from olmix.files import read_json, sha256, write_json, write_text
from olmix.paths import REPOSITORY

__all__ = ["DOMAINS", "LATER", "gather_demo"]

LOCK = REPOSITORY / "envs" / "requirements.lock"
LARGEST_FILE = 2_500_000
SHORTEST_DOCSTRING = 200

# Documentation is taken from these packages and code from others, so that no docstring that models
# are tested on lies inside code that they are trained on.
DOCUMENTED = (
    *("numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "networkx", "torch", "seaborn"),
)
MATHS = ("sympy", "mpmath")
MODELS = ("transformers",)


class PackageFile(NamedTuple):
    """A file of an installed package."""

    package: str
    name: str  # its path below the packages' folder
    path: Path


@dataclass(frozen=True)
class Kind:
    """A domain of the demonstration: files by the pattern of their names, from some packages.

    ``wanted``: whether its held-out documents are what the mix is chosen for. As on the web, there
    is more of what nobody asked for.
    """

    domain: str
    pattern: str
    megabytes: float  # enough of it: a demonstration is to be quick
    wanted: bool = False
    packages: tuple[str, ...] = ()  # all if empty
    without: str | None = None
    not_from: tuple[str, ...] = ()
    docstrings: bool = False

    def has(self, file: PackageFile) -> bool:
        """Whether a file is of this kind."""
        if file.package not in (self.packages or [file.package]) or file.package in self.not_from:
            return False
        if not re.search(self.pattern, file.name):
            return False
        return self.without is None or not re.search(self.without, file.name)

    def documents(self, path: Path) -> Iterator[str]:
        """The documents of a file: itself, or what its docstrings say."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        yield from _docstrings(text) if self.docstrings else [text]


_TESTS = r"(^|/)(tests?|testing)/|(^|/)(test_|conftest)"
_GENERATED = r"ATen/(ops/|[A-Za-z]*(Redispatch|Generated|Registration|NativeFunctions|Functions))"

# The domains there are at first.
DOMAINS = (
    Kind("python", r"\.py$", 4, True, without=_TESTS, not_from=(*DOCUMENTED, *MATHS, *MODELS)),
    Kind("maths", r"\.py$", 3, True, MATHS, without=_TESTS),
    Kind("headers", r"\.(h|hpp|cuh|cpp)$", 4, True, without=_GENERATED),
    Kind("web", r"\.(js|css|html)$", 3, True),
    Kind("docstrings", r"\.py$", 2, True, DOCUMENTED, without=_TESTS, docstrings=True),
    Kind("tests", rf"({_TESTS}).*\.py$", 8, packages=DOCUMENTED),
    Kind("models", r"models/.*\.py$", 8, packages=MODELS),
    Kind("generated", rf"({_GENERATED}).*\.h$|\.c$", 8),
    Kind("licences", r"(?i)dist-info/.*(licen[cs]e|copying|notice)", 2),
    Kind("records", r"dist-info/RECORD$|\.(csv|afm|json)$", 6),
)
# The one that comes later: the update of the demonstration.
LATER = Kind("readmes", r"dist-info/METADATA$|\.(md|rst)$", 2, True)


def gather_demo(folder: str | Path, later: str | Path) -> None:
    """Write the domains into ``folder`` and the later one into ``later``, once for a lock."""
    record = Path(later) / "gathered.json"
    made_from = {"lock": sha256(LOCK)}
    if record.is_file() and read_json(record) == made_from:
        return
    files = list(_package_files())
    for kind in DOMAINS:
        _write(kind, files, Path(folder))
    _write(LATER, files, Path(later))
    write_json(record, made_from)


def _package_files() -> Iterator[PackageFile]:
    """The files of every package in the lock, in an order that mixes packages and topics."""
    files = []
    for line in LOCK.read_text(encoding="utf-8").splitlines():
        package, equals, _ = line.partition("==")
        if not equals or line.startswith("#"):
            continue
        try:
            listed = distribution(package).files or []
        except PackageNotFoundError:
            continue  # the lock is for several systems
        files += [PackageFile(package, str(file), Path(file.locate())) for file in listed]
    if not files:
        raise OlmixError(f"{LOCK}: none of its packages is installed here, so there is no text")
    yield from sorted(files, key=lambda file: hashlib.sha256(file.name.encode()).digest())


def _write(kind: Kind, files: list[PackageFile], folder: Path) -> None:
    """Write a domain as JSON lines, a file per package, up to the size that is enough."""
    by_package: dict[str, list[str]] = {}
    size = 0
    for file in files:
        if size >= 1e6 * kind.megabytes:
            break
        if not kind.has(file) or not 0 < _size(file.path) <= LARGEST_FILE:
            continue
        for document in kind.documents(file.path):
            by_package.setdefault(file.package, []).append(document)
            size += len(document.encode("utf-8"))
    for package, documents in by_package.items():
        lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in documents)
        write_text(folder / kind.domain / f"{package}.jsonl", lines)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _docstrings(source: str) -> Iterator[str]:
    """The docstrings of a Python file that say more than a line or two."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, documented) else None
        if text and len(text) >= SHORTEST_DOCSTRING:
            yield text
