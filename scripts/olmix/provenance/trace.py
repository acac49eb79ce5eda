"""How a file was made: from Snakemake's own records, the job's log and benchmark, and run.json.

Nothing is written and nothing is guessed: what no record tells is listed as unknown.
"""

import ast
import base64
import csv
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import read_json, sha256
from olmix.provenance.environment import read_environment

__all__ = ["HASHED", "FileOrigin", "chain", "fingerprint", "trace"]

HASHED = 2_000_000_000
"""Bytes of an input that are hashed unless more is asked for."""

_SEEDS = ("seed", "seeds", "data_seed", "init_seed")
_FROM_RECORDS = ("host", "time", "slurm_job", "commit", "versions", "python", "device")


@dataclass
class FileOrigin:
    """What is known of a file's making."""

    file: str
    output: str  # the declared output it belongs to: itself, or a folder above it
    rule: str | None = None
    inputs: list[dict[str, Any]] = field(default_factory=list)
    settings: list[Any] = field(default_factory=list)
    seeds: dict[str, Any] = field(default_factory=dict)
    made_with: dict[str, Any] = field(default_factory=dict)
    started: str | None = None
    seconds: float | None = None
    command: str | None = None
    log: str | None = None
    benchmark: str | None = None
    sha256: str | None = None
    run: dict[str, Any] | None = None  # a training run's own record
    remake: str | None = None
    unknown: list[str] = field(default_factory=list)


def trace(file: str | Path, limit: int = HASHED) -> FileOrigin:
    """Everything that the records tell about ``file``, a file or folder of results or figures.

    Inputs of more than ``limit`` bytes are named without a hash.
    """
    path = Path(file).absolute()
    if not path.exists():
        raise OlmixError(f"{file}: no such file; expected one that the workflow has made")
    root = _root(path)
    output, record = _record(root, path)
    origin = FileOrigin(str(path.relative_to(root)), str(output.relative_to(root)))
    origin.sha256 = fingerprint(path, limit)
    if record is None:
        origin.unknown.append("rule, inputs and duration (Snakemake keeps no record of this file)")
    else:
        _add_record(origin, record, root, output, limit)
    _add_beside(origin, _record_beside(path, root))
    if not origin.made_with:
        origin.unknown.append("commit, versions and machine (neither a log nor a record tells)")
    elif origin.made_with.get("commit") is None:
        origin.unknown.append("commit (not made in a git checkout, or before it was written down)")
    return origin


def _root(path: Path) -> Path:
    """The folder the workflow ran in: the nearest one above with Snakemake's records."""
    for folder in path.parents:
        if (folder / ".snakemake").is_dir() or (folder / "Snakefile").is_file():
            return folder
    raise OlmixError(
        f"{path}: no folder above it holds .snakemake or a Snakefile; "
        "expected a file inside a clone where the workflow ran"
    )


def _record(root: Path, path: Path) -> tuple[Path, dict[str, Any] | None]:
    """Snakemake's record of a file, or of the folder above that was declared as an output."""
    for candidate in (path, *path.parents):
        if candidate == root:
            break
        record = _record_path(root, str(candidate.relative_to(root)))
        if record.is_file():
            return candidate, read_json(record)
    return path, None


def _record_path(root: Path, name: str) -> Path:
    """Records are named by their file in base64, cut into folders where that is too long."""
    code = base64.urlsafe_b64encode(name.encode()).decode()
    parts = [code[start : start + 254] for start in range(0, len(code), 254)]
    folders = [f"@{part}" for part in parts[:-1]]
    return root.joinpath(".snakemake", "metadata", *folders, parts[-1])


def _add_record(
    origin: FileOrigin, record: dict[str, Any], root: Path, output: Path, limit: int
) -> None:
    """Add what Snakemake wrote down about the job, its log and its benchmark file."""
    origin.rule, origin.command = record.get("rule"), record.get("shellcmd")
    recorded = record.get("input_checksums") or {}
    finished = record.get("endtime")
    for name in record.get("input") or []:
        origin.inputs.append(_input(root, name, recorded.get(name), finished, limit))
    origin.settings = [_value(text) for text in record.get("params") or []]
    origin.seeds = dict(_seeds(origin.settings))
    started = record.get("starttime")
    if started is not None:
        origin.started = datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds")
        origin.seconds = round(finished - started, 2) if finished is not None else None
    if record.get("log"):
        origin.log = record["log"][0]
        origin.made_with = read_environment(root / origin.log) or {}
        _add_benchmark(origin, root, origin.log)
    origin.remake = _remake(output.relative_to(root), origin.log)


def _add_benchmark(origin: FileOrigin, root: Path, log: str) -> None:
    """Add the seconds of the job's benchmark file, which leave the waiting out."""
    benchmark = log.replace("/logs/", "/benchmarks/").removesuffix(".log") + ".tsv"
    if (root / benchmark).is_file():
        origin.benchmark = benchmark
        with (root / benchmark).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        origin.seconds = float(rows[0]["s"]) if rows else origin.seconds


def _input(
    root: Path, name: str, recorded: str | None, finished: float | None, limit: int
) -> dict[str, Any]:
    """An input as it is now, and whether that is what the job read."""
    path = root / name
    if not path.exists():
        return {"file": name, "sha256": None, "state": "gone"}
    now = fingerprint(path, limit)
    state = "as read"
    if recorded is not None and now is not None and recorded.removeprefix("sha256:") != now:
        state = "changed since"
    elif recorded is None and finished is not None and path.stat().st_mtime > finished:
        state = "newer than the output"
    return {"file": name, "sha256": now, "state": state}


def fingerprint(path: Path, limit: int = HASHED) -> str | None:
    """The SHA-256 of a file, or of the sorted names and SHA-256s in a folder; None over a limit."""
    if path.is_file():
        return sha256(path) if path.stat().st_size <= limit else None
    files = sorted(p for p in path.rglob("*") if p.is_file() and p.name[0] != ".")
    if sum(file.stat().st_size for file in files) > limit:
        return None
    lines = [f"{file.relative_to(path).as_posix()} {sha256(file)}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _value(text: Any) -> Any:
    """A parameter as a value; Snakemake keeps its text."""
    try:
        # Infinity has no literal: the text keeps telling of it.
        value = ast.literal_eval(text)
        json.dumps(value, allow_nan=False)
        return value
    except (ValueError, SyntaxError, TypeError):
        return text


def _seeds(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting that is called a seed, by the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            place = f"{where}.{key}" if where else str(key)
            if key in _SEEDS:
                yield place, inner
            else:
                yield from _seeds(inner, place)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            named = isinstance(inner, dict) and isinstance(inner.get("name"), str)
            label = inner["name"] if named else (str(number) if where else "")
            yield from _seeds(inner, f"{where}.{label}" if where and label else where or label)


def _remake(output: Path, log: str | None) -> str:
    """The command that makes a file again; what depends on no scale is not given one."""
    scale = log.split("/")[1] if log and log.startswith("results/") else None
    option = f" --config scale={scale}" if scale not in (None, "published", "logs") else ""
    return f"snakemake {output} --force{option}"


def _record_beside(path: Path, root: Path) -> tuple[Path, dict[str, Any]] | None:
    """The nearest run.json or provenance.json: in the folder itself, or above."""
    for folder in (path, *path.parents):
        if folder == root:
            return None
        for name in ("run.json", "provenance.json"):
            if (folder / name).is_file():
                return folder / name, read_json(folder / name)
    return None


def _add_beside(origin: FileOrigin, beside: tuple[Path, dict[str, Any]] | None) -> None:
    """Add what the results say of themselves, where the workflow's records end."""
    if beside is None:
        return
    path, content = beside
    if path.name == "run.json":
        settings = content.get("settings", {})
        origin.settings = origin.settings or [settings]
        origin.run = {
            "record": path.name,
            "hash": content.get("hash"),
            "steps": content.get("steps"),
            "seconds": content.get("seconds"),
            "provenance": content.get("provenance", {}),
        }
        origin.seeds |= {f"run.{place}": seed for place, seed in _seeds(settings)}
        found = content.get("provenance", {})
    else:
        found = content
        if "seeds" in content:
            origin.seeds.setdefault("seeds", content["seeds"])
    # A run that was kept from an earlier job has its own commit; the log's is that of the job.
    for key in _FROM_RECORDS:
        if key in found:
            origin.made_with.setdefault(key, found[key])


def chain(file: str | Path, limit: int = HASHED) -> list[FileOrigin]:
    """``file`` and all that it was made from, back to what no rule has made; each once."""
    first = trace(file, limit)
    root = _root(Path(file).absolute())
    found, waiting = {first.output: first}, [first]
    while waiting:
        for entry in waiting.pop(0).inputs:
            name = entry["file"]
            if name in found or entry["state"] == "gone":
                continue
            outside = not (root / name).is_relative_to(root)
            given = FileOrigin(name, name, sha256=entry["sha256"])
            found[name] = given if outside else trace(root / name, limit)
            waiting.append(found[name])
    return list(found.values())
