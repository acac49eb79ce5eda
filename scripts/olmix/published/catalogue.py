"""Which released swarms are here, read into one shape: our domain names, the paper's 52 tasks.

A folder with ``ratios.csv`` and ``metrics.csv`` is a swarm; ``meta.json`` beside them gives token
counts and the prior. What reading had to repair, rename or leave out is kept as notes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.mix import Mix
from olmix.paths import CONFIG
from olmix.swarm.domain_file import domains_from
from olmix.tables import SwarmTable, metric_columns, read_swarm, write_table
from olmix.tasks import fold_mmlu, suite_columns
from olmix.updates.operators import EXISTING

__all__ = ["Catalogue", "ReleasedSwarm", "find_swarms", "read_released"]


@dataclass(frozen=True)
class ReleasedSwarm:
    """A released swarm: its table, what its domains have to give, and the prior of its KL term.

    ``tokens`` is None where no token counts were released; nothing is capped then.
    """

    table: SwarmTable
    tokens: np.ndarray | None
    prior: Mix

    def save(self, folder: Path) -> None:
        """Write the swarm as any other: tables, and a domain file beside them."""
        table = self.table
        write_table(folder / "ratios.csv", table.runs, table.domains, table.mixes)
        write_table(folder / "metrics.csv", table.runs, table.tasks, table.metrics)
        content: dict[str, Any] = {"relative_sizes": self.prior.to_dict()}
        if self.tokens is not None:
            counts = map(int, self.tokens)
            content["token_counts"] = dict(zip(table.domains, counts, strict=True))
        write_json(folder / "domains.json", content)

    @classmethod
    def load(cls, folder: Path) -> "ReleasedSwarm":
        """Read what `save` wrote."""
        table = read_swarm(folder / "ratios.csv", folder / "metrics.csv")
        domains, prior = domains_from(folder / "domains.json", table)
        return cls(table, None if domains is None else domains.tokens, prior)


@dataclass(frozen=True)
class Catalogue:
    """The swarms of a results folder, by name, and the known ones that are missing."""

    folder: Path
    found: tuple[str, ...]
    missing: Mapping[str, str]  # name -> where it would have been

    @classmethod
    def load(cls, folder: str | Path) -> "Catalogue":
        """Open what the reading of all swarms wrote."""
        record = read_json(Path(folder) / "catalogue.json")
        return cls(Path(folder), tuple(record["found"]), record["missing"])

    def get(self, name: str) -> ReleasedSwarm | None:
        """A swarm, None if it is not here."""
        return ReleasedSwarm.load(self.folder / name) if name in self.found else None


def find_swarms(root: Path, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """Name -> folder of every swarm below a folder; listed ones first, by their own names."""
    if not root.is_dir():
        raise OlmixError(f"published swarms: no folder {root}")
    found = [path.parent for path in root.rglob("ratios.csv")]
    # The nearest folder of a name keeps it.
    folders = sorted(found, key=lambda folder: (len(folder.parts), folder))
    if not folders:
        raise OlmixError(f"published swarms: no ratios.csv in or below {root}")
    listed = {Path(entry["folder"]).name: name for name, entry in known.items()}
    named: dict[str, Path] = {}
    for folder in folders:
        name = listed.get(folder.resolve().name, folder.resolve().name)
        if name in named:  # two folders of one name: the path tells them apart
            name = "-".join(folder.relative_to(root).parts)
        named[name] = folder
    order = [name for name in known if name in named]
    return {name: named[name] for name in [*order, *(n for n in named if n not in order)]}


def read_released(
    folder: Path,
    settings: Mapping[str, Any],
    known: Mapping[str, Any] | None,
    topics: Sequence[str],
) -> ReleasedSwarm:
    """One swarm in our names; ``known`` is its entry in the settings, ``topics`` DCLM's."""
    known = known or {}
    columns = metric_columns(folder / "metrics.csv")
    wanted = set(suite_columns(columns, CONFIG / "tasks" / "paper.yaml"))
    # A swarm measured on other tasks is taken as it is.
    papers = len(wanted) > len(columns) / 2
    extra = [column for column in columns if column not in wanted] if papers else []
    table = read_swarm(
        folder / "ratios.csv",
        folder / "metrics.csv",
        missing=settings["missing"],
        skip=lambda task: task in extra,
    )
    notes = list(table.notes)
    if extra:
        notes.append(f"metrics.csv: {len(extra)} metrics outside the 52 left out: {_list(extra)}")
    table = fold_mmlu(table, CONFIG / "tasks" / "mmlu_subjects.csv")
    if papers and len(table.tasks) != 52:
        notes.append(f"metrics.csv: {len(table.tasks)} of the paper's 52 tasks")
    if known.get("runs") not in (None, len(table)):
        notes.append(f"{len(table)} runs, {known['runs']} were released")
    rename = _renaming(table.domains, settings["sources"], known.get("virtual"), topics)
    renamed = [f"{old} -> {new}" for old, new in rename.items() if old != new]
    if renamed:
        notes.append(f"ratios.csv: {len(renamed)} domains renamed: {_list(renamed, 2)}")
    table = replace(table, domains=_apply(rename, table.domains))
    tokens, prior, more = _meta(folder / "meta.json", table, settings, known, topics)
    return ReleasedSwarm(replace(table, notes=(*notes, *more)), tokens, prior)


def _renaming(
    names: Sequence[str], sources: Mapping[str, str], virtual: str | None, topics: Sequence[str]
) -> dict[str, str]:
    """Released name -> ours: one prefix a source, ``existing`` for the virtual domain."""
    bare = set(names) <= set(topics)  # the DCLM swarm has its topics without their source
    renamed = {}
    for name in names:
        source, colon, topic = name.partition(":")
        ours = f"{sources.get(source, source)}{colon}{topic}"
        if name == virtual:
            ours = EXISTING
        elif bare:
            ours = f"dclm:{name}"
        renamed[name] = ours
    return renamed


def _apply(rename: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        if rename[name] in found:
            raise OlmixError(
                f"ratios: '{found[rename[name]]}' and '{name}' both stand for '{rename[name]}'"
            )
        found[rename[name]] = name
    return tuple(found)


def _meta(
    path: Path,
    table: SwarmTable,
    settings: Mapping[str, Any],
    known: Mapping[str, Any],
    topics: Sequence[str],
) -> tuple[np.ndarray | None, Mix, list[str]]:
    """Token counts and prior of a swarm, in our names; what stands in for them is noted."""
    if not path.is_file():
        note = "no meta.json: nothing is capped, and the prior is the mean of the swarm's mixes"
        return None, Mix(table.domains, table.mixes.mean(0)), [note]
    record = read_json(path)
    if not isinstance(record, dict):
        raise OlmixError(f"{path}: holds {type(record).__name__}, expected a mapping of keys")

    def ours(key: str) -> dict[str, Any] | None:
        values = record.get(key)
        if not values:
            return None
        rename = _renaming(list(values), settings["sources"], known.get("virtual"), topics)
        values = dict(zip(_apply(rename, list(values)), values.values(), strict=True))
        missing = [name for name in table.domains if name not in values]
        if missing:
            raise OlmixError(f"{path}: {key} has no '{missing[0]}' ({len(missing)} such)")
        return {name: values[name] for name in table.domains}

    notes = []
    counts, sizes = ours("token_counts"), ours("relative_sizes")
    tokens = None if counts is None else DomainSet.from_token_counts(counts).tokens
    if tokens is None:
        notes.append("meta.json: no token counts, nothing is capped")
    if sizes is None:
        weights = table.mixes.mean(0) if tokens is None else tokens / tokens.sum()
        notes.append("meta.json: no relative sizes, the prior is natural (or the swarm's mean mix)")
        return tokens, Mix(table.domains, weights), notes
    total = sum(sizes.values())
    if abs(total - 1) > 1e-6:
        notes.append(f"meta.json: relative sizes sum to {total:.6g}, renormalised")
    return tokens, Mix.from_dict({n: size / total for n, size in sizes.items()}), notes


def _list(names: Sequence[str], most: int = 8) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
