"""Whether texts, tokens and weights fit on the disks that they go to, before the first byte."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from olmix.model.shapes import shape
from olmix.study.data_sizes import listed, text_bytes
from olmix.study.public_data import COMPRESSED_BYTES, TOKEN_BYTES, PublicData

__all__ = ["Need", "checkpoints_need", "data_needs", "lacking_room", "weights_need"]

WEIGHT_BYTES = 4
"""Bytes of a parameter in a run's final weights, which are float32."""

CHECKPOINT_BYTES = 3 * 3 * WEIGHT_BYTES
"""Of a run that trains: weights and two moments, in two checkpoints and a third being written."""


Shard = tuple[str, int]  # a source and the number of one of its shards


@dataclass(frozen=True)
class Need:
    """Bytes that jobs will write below a folder."""

    what: str
    folder: str
    bytes: float


def data_needs(
    data: PublicData, downloads: Iterable[Shard], tokenised: Iterable[Shard]
) -> list[Need]:
    """What shards still have to fetch and to tokenise, without what is there of them.

    Before a source is listed, `most_files` leaves its size open, and it counts nothing.
    """
    fetched = sum(_left(data, shard, "downloads", 1.0) for shard in downloads)
    per_byte = TOKEN_BYTES / COMPRESSED_BYTES
    tokens = sum(_left(data, shard, "shards", per_byte) for shard in tokenised)
    return [Need("downloads", data.folder, fetched), Need("tokens", data.folder, tokens)]


def _left(data: PublicData, shard: Shard, kind: str, per_byte: float) -> float:
    """Bytes that one shard will still write, with so many for a byte of its text."""
    name, number = shard
    unlisted = not data.sources[name].local and not listed(data, name).is_file()
    if unlisted and data.settings["most_files"] is not None:
        return 0.0
    whole = per_byte * (text_bytes(data, name) or 0.0) / data.shards(name)
    there = (Path(data.folder) / kind / name / str(number)).rglob("*")
    return max(0.0, whole - sum(path.stat().st_size for path in there if path.is_file()))


def weights_need(runs: Iterable[tuple[str, int]], results: str) -> Need:
    """The final weights of runs, given as shapes and how many there are of each."""
    parameters = sum(number * shape(name).parameters for name, number in runs)
    return Need("weights of runs", results, WEIGHT_BYTES * parameters)


def checkpoints_need(jobs: Iterable[str], at_once: int | None, results: str) -> Need:
    """The checkpoints of the largest jobs that may train at once, given as the shape of each."""
    largest = sorted((shape(name).parameters for name in jobs), reverse=True)[:at_once]
    return Need("checkpoints", results, CHECKPOINT_BYTES * sum(largest))


def lacking_room(needs: Iterable[Need]) -> list[str]:
    """A sentence for each disk on which what is needed is more than what is free."""
    disks: dict[int, list[tuple[Need, Path]]] = {}
    for need in needs:
        where = Path(need.folder).absolute()
        place = next(folder for folder in (where, *where.parents) if folder.exists())
        disks.setdefault(place.stat().st_dev, []).append((need, place))
    found = []
    for there in disks.values():
        wanted = sum(need.bytes for need, _ in there)
        free = shutil.disk_usage(there[0][1]).free
        if wanted > free:
            parts = " + ".join(
                f"{need.bytes / 1e12:,.3g} TB of {need.what} below {need.folder}"
                for need, _ in there
                if need.bytes
            )
            found.append(
                f"too little room: {parts}, {free / 1e12:,.3g} TB are free; link these folders to "
                "a larger disk, or lower most_files of the scale"
            )
    return found
