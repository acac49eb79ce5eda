"""A task suite: a folder of prompts with their gold continuations, grouped in families.

``suite.json`` names the suite and its tasks; each task has one ``<task>.jsonl`` (or ``.jsonl.gz``)
with rows ``{"prompt": ..., "gold": ...}``. A derived task has no rows of its own: its value is the
mean of other tasks, as the paper's Basic Skills column is.
"""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, replacing, write_json

__all__ = ["Instance", "Suite", "SuiteWriter", "Task"]


class Instance(NamedTuple):
    """A prompt and the gold continuation scored after it."""

    prompt: str
    gold: str


@dataclass(frozen=True)
class Task:
    """One task of a suite: a file of instances, or (derived) the mean of other tasks."""

    name: str
    family: str
    instances: int
    file: str | None = None
    mean_of: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)  # what a reader wants to know, unscored


@dataclass(frozen=True)
class Suite:
    """A task suite opened from its folder; rows are read when asked for."""

    folder: Path
    name: str
    tasks: tuple[Task, ...]

    @classmethod
    def open(cls, folder: str | Path) -> "Suite":
        """Open a suite and check its table of contents; `instances` checks a task's rows."""
        folder = Path(folder)
        path = folder / "suite.json"
        if not path.is_file():
            raise OlmixError(f"{folder}: not a task suite (expected a folder with suite.json)")
        contents = read_json(path)
        try:
            tasks = tuple(_task(entry) for entry in contents["tasks"])
            suite = cls(folder, str(contents["name"]), tasks)
        except (KeyError, TypeError, ValueError) as error:
            raise OlmixError(
                f"{path}: malformed ({type(error).__name__}: {error}); expected "
                '{"name", "tasks": [{"name", "family", "file", "instances"}]}'
            ) from error
        suite._check(path)
        return suite

    @property
    def families(self) -> dict[str, list[str]]:
        """The names of the tasks of each family, both in the suite's order."""
        families: dict[str, list[str]] = {}
        for task in self.tasks:
            families.setdefault(task.family, []).append(task.name)
        return families

    @cached_property
    def hash(self) -> str:
        """A fingerprint of everything that is scored: tasks, families and every row.

        Taken over the rows before compression, so repacking a file does not change it.
        """
        return content_hash(
            [
                [task.name, task.family, list(task.mean_of), self._rows_sha256(task)]
                for task in self.tasks
            ]
        )

    def instances(self, task: Task) -> list[Instance]:
        """Read and check one task's rows (none for a derived task)."""
        if task.file is None:
            return []
        path = self.folder / task.file
        with _reading(path) as file:
            rows = [_instance(line, path, number) for number, line in enumerate(file, start=1)]
        if len(rows) != task.instances:
            raise OlmixError(
                f"{path}: {len(rows)} instances, but suite.json says {task.instances} for "
                f"task {task.name!r}"
            )
        return rows

    def _rows_sha256(self, task: Task) -> str | None:
        if task.file is None:
            return None
        with _reading(self.folder / task.file) as file:
            digest = hashlib.sha256()
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def _check(self, path: Path) -> None:
        if not self.tasks:
            raise OlmixError(f"{path}: no tasks; expected at least one")
        with_rows = {task.name for task in self.tasks if task.file is not None}
        seen: set[str] = set()
        for task in self.tasks:
            if task.name in seen:
                raise OlmixError(f"{path}: task {task.name!r} appears twice")
            seen.add(task.name)
            if task.mean_of:
                unknown = [name for name in task.mean_of if name not in with_rows]
                if unknown:
                    raise OlmixError(
                        f"{path}: task {task.name!r} is the mean of {unknown[0]!r}, "
                        "which is not a task with rows in this suite"
                    )
            elif task.file is None:
                raise OlmixError(f"{path}: task {task.name!r} has neither 'file' nor 'mean_of'")
            elif task.instances < 1:
                raise OlmixError(
                    f"{path}: task {task.name!r} is empty (instances {task.instances}); "
                    "expected at least one instance"
                )
            elif not (self.folder / task.file).is_file():
                raise OlmixError(f"{self.folder / task.file}: no such file (task {task.name!r})")


class SuiteWriter:
    """Write a suite folder; ``suite.json`` comes last, so a broken write is not a suite.

    ``with SuiteWriter(folder, "tiny") as writer: writer.add("sums", "math", instances)``
    """

    def __init__(self, folder: str | Path, name: str, *, compress: bool = False) -> None:
        """Start a suite called ``name``; ``compress`` writes ``.jsonl.gz`` files."""
        self._folder = Path(folder)
        self._name = name
        self._suffix = ".jsonl.gz" if compress else ".jsonl"
        self._entries: list[dict[str, Any]] = []

    def __enter__(self) -> "SuiteWriter":
        """Start writing: a suite that was in the folder is none from here on."""
        (self._folder / "suite.json").unlink(missing_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write ``suite.json``, unless something went wrong, and check the result."""
        if kind is None:
            write_json(self._folder / "suite.json", {"name": self._name, "tasks": self._entries})
            Suite.open(self._folder)

    def add(
        self,
        name: str,
        family: str,
        instances: Iterable[Instance | tuple[str, str]],
        about: dict[str, Any] | None = None,
    ) -> None:
        """Write one task's (prompt, gold) pairs."""
        file = re.sub(r"[^A-Za-z0-9._-]", "-", name) + self._suffix
        if any(file == entry.get("file") for entry in self._entries):
            raise OlmixError(f"{self._folder}: two tasks would share the file {file!r} ({name!r})")
        count = 0
        with replacing(self._folder / file) as temporary, temporary.open("wb") as raw:
            # No name and no time in the gzip header: the same rows give the same bytes.
            packed = gzip.GzipFile("", "wb", 6, raw, mtime=0) if file.endswith(".gz") else None
            out = packed or raw
            for prompt, gold in instances:
                line = json.dumps({"prompt": prompt, "gold": gold}, ensure_ascii=False)
                out.write(line.encode("utf-8") + b"\n")
                count += 1
            if packed:
                packed.close()
        entry = {"name": name, "family": family, "file": file, "instances": count}
        self._entries.append(entry | ({"about": about} if about else {}))

    def add_mean(
        self, name: str, family: str, mean_of: Iterable[str], about: dict[str, Any] | None = None
    ) -> None:
        """Declare a derived task, the plain mean of the tasks named."""
        entry = {"name": name, "family": family, "instances": 0, "mean_of": list(mean_of)}
        self._entries.append(entry | ({"about": about} if about else {}))


def _task(entry: dict[str, Any]) -> Task:
    return Task(
        name=str(entry["name"]),
        family=str(entry["family"]),
        instances=int(entry.get("instances", 0)),
        file=entry.get("file"),
        mean_of=tuple(entry.get("mean_of", ())),
        about=dict(entry.get("about", {})),
    )


def _instance(line: bytes, path: Path, number: int) -> Instance:
    try:
        row = json.loads(line)
        prompt, gold = row["prompt"], row["gold"]
    except (ValueError, KeyError, TypeError) as error:
        raise OlmixError(
            f'{path}:{number}: not a row {{"prompt", "gold"}} ({type(error).__name__}: {error})'
        ) from error
    for key, value in (("prompt", prompt), ("gold", gold)):
        if not isinstance(value, str) or not value:
            raise OlmixError(f"{path}:{number}: {key} is {value!r}; expected a non-empty text")
    return Instance(prompt, gold)


@contextmanager
def _reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a task file, compressed or not; a missing or damaged one is an `OlmixError`."""
    try:
        with (
            cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file
        ):
            yield file
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise OlmixError(f"{path}: damaged gzip file ({error})") from error
