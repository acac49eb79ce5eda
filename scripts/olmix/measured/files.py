"""Read released swarms and ``config/measured.yaml``, and write the file of measured laws."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from olmix.config_files import check_keys, read_config
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json, write_json, write_text
from olmix.measured.law import load_replica
from olmix.measured.measure import Measurement
from olmix.measured.runs import ReleasedRuns, join_swarms
from olmix.paths import CONFIG
from olmix.published.catalogue import find_swarms, read_released
from olmix.published.settings import load_settings

__all__ = [
    "load_measured",
    "paper_domains",
    "read_runs",
    "source_of",
    "stored_tokens",
    "write_laws",
    "write_replica",
]

_KEYS = ("swarms", "forms", "replicas", "seed", "assumed", "tokens", "transfer", "check")
# Those of its parts that are not lists of names.
_PARTS = {
    "transfer": ("spearman", "target_noise"),
    "check": ("swarm", "sizes", "held_out", "seeds"),
}
_ASSUMED = ("like", "concentration")


def load_measured(path: str | Path) -> dict[str, Any]:
    """The settings of ``config/measured.yaml``, with every key known and every one there."""
    content = read_config(path)
    check_keys(content, _KEYS, _KEYS, where=str(path))
    for name, keys in _PARTS.items():
        check_keys(content[name], keys, keys, where=f"{path}: {name}")
    for name, entry in content["assumed"].items():
        check_keys(entry, _ASSUMED, _ASSUMED, where=f"{path}: assumed: {name}")
        if not entry["concentration"] > 0:
            said = f"assumed: {name}: concentration is {entry['concentration']!r}"
            raise OlmixError(f"{path}: {said}, expected more than 0")
    if not isinstance(content["replicas"], int) or content["replicas"] < 1:
        raise OlmixError(f"{path}: replicas is {content['replicas']!r}, expected 1 or more")
    return content


def paper_domains() -> DomainSet:
    """The paper's domains with their token counts."""
    return DomainSet.load(CONFIG / "domains" / "paper.yaml")


def read_runs(folder: Path, swarms: Sequence[str]) -> ReleasedRuns:
    """The named swarms of a folder of released ones, as one."""
    settings = load_settings(CONFIG / "published.yaml")
    found = find_swarms(folder, settings["swarms"])
    missing = [name for name in swarms if name not in found]
    if missing:
        expected = settings["swarms"].get(missing[0], {}).get("folder", missing[0])
        raise OlmixError(f"{folder}: no swarm '{missing[0]}', expected it in {expected}")
    topics = [domain.topic for domain in paper_domains().of_source("dclm") if domain.topic]
    tables = {
        name: read_released(found[name], settings, settings["swarms"].get(name), topics).table
        for name in swarms
    }
    return join_swarms(tables)


def stored_tokens(domains: DomainSet, settings: dict[str, Any]) -> dict[str, int]:
    """Everything a mix can be over, with tokens: the paper's domains, and what is assumed.

    An earlier content of a source (``pdf@1``) counts what it became.
    """
    tokens = {domain.name: domain.tokens for domain in domains} | settings["tokens"]
    for name in settings["assumed"]:
        source = name.partition("@")[0]
        tokens.setdefault(name, sum(domain.tokens for domain in domains.of_source(source)))
    return tokens


def write_replica(path: Path, number: int, out: Path) -> list[str]:
    """Write a file of laws with one of them alone, and return the tasks it is about."""
    load_replica(path, number)
    record = read_json(path)
    write_json(out, record | {"replicas": [record["replicas"][number]]})
    return record["tasks"]


def source_of(measured: Measurement, files: Mapping[str, str], command: str) -> dict[str, Any]:
    """What a file of laws says of its origin: runs, the tables' SHA-256, date and command."""
    names, counts = np.unique(measured.runs.swarm, return_counts=True)
    return {
        "runs": {str(name): int(count) for name, count in zip(names, counts, strict=True)},
        "dataset": read_config(CONFIG / "published.yaml")["dataset"],
        "sha256": dict(files),
        "date": date.today().isoformat(),
        "command": command,
        "best_form": measured.best,
    }


def write_laws(path: Path, measured: Measurement, source: dict[str, Any]) -> None:
    """Write the laws; ``source`` says which runs, when and by which command. A line per replica."""
    record = {"source": source, **measured.to_dict()}
    replicas = record.pop("replicas")

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    lines = [f"{json.dumps(key)}: {compact(value)}," for key, value in record.items()]
    listed = ",\n".join(compact(replica) for replica in replicas)
    write_text(path, "{\n" + "\n".join(lines) + f'\n"replicas": [\n{listed}\n]\n' + "}\n")
