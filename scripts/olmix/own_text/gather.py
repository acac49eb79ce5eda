"""Write a domain's documents as clean shards of JSON lines, without what is held out.

A batch of files becomes shards and, written last, a record: an interrupted gathering goes on with
the batches that have none.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path

import zstandard

from olmix.files import content_hash, read_json, replacing, write_json
from olmix.own_text.batches import Batch, batches_of, in_processes
from olmix.own_text.prints import document_prints
from olmix.own_text.reading import Text, read_texts

__all__ = ["files_print", "gather"]

# Characters of a shard, which is what one process tokenises at a time.
SHARD_CHARACTERS = 2**24
RECORD = "gathered.json"


def files_print(files: list[Path]) -> str:
    """A fingerprint of files by name, size and time: as long as it is the same, so is the text."""
    stats = [(path, path.stat() if path.exists() else None) for path in files]
    return content_hash(
        [[str(path), stat and [stat.st_size, stat.st_mtime_ns]] for path, stat in stats]
    )


def gather(
    files: Mapping[str, list[Path]],
    folders: Mapping[str, Path],
    held_out: frozenset[int],
    *,
    text_field: str = "text",
    processes: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write the documents of each domain into its folder, but those with a held-out print."""
    settings = content_hash([text_field, sorted(f"{entry:x}" for entry in held_out)])
    for domain, paths in files.items():
        _start(folders[domain], content_hash([files_print(paths), settings]))
    work = partial(_gather_batch, folders=folders, held_out=held_out, text_field=text_field)
    for _ in in_processes(work, batches_of(files), processes, on_progress):
        pass


def _start(folder: Path, key: str) -> None:
    """An empty folder, unless it holds what is asked for already, or a part of it."""
    record = folder / RECORD
    if record.is_file() and read_json(record) == {"made_from": key}:
        return
    shutil.rmtree(folder, ignore_errors=True)
    write_json(record, {"made_from": key})


def _gather_batch(
    batch: Batch, folders: Mapping[str, Path], held_out: frozenset[int], text_field: str
) -> None:
    folder = folders[batch.domain]
    done = folder / f"{batch.number:05d}.done"
    if done.is_file():
        return
    documents = _documents(batch, held_out, text_field)
    for number in count():
        shard = folder / f"{batch.number:05d}-{number:03d}.jsonl.zst"
        if not _write_shard(shard, documents):
            break
    done.touch()


def _documents(batch: Batch, held_out: frozenset[int], text_field: str) -> Iterator[str]:
    for path in batch.files:
        for entry in read_texts(path, text_field):
            if isinstance(entry, Text) and held_out.isdisjoint(document_prints(entry.text)):
                # Half a surrogate pair, which JSON can hold, is no character.
                yield entry.text.encode("utf-8", "replace").decode("utf-8")


def _write_shard(path: Path, documents: Iterator[str]) -> bool:
    """Write documents up to the size of a shard; False, and no file, if there are none left."""
    first = next(documents, None)
    if first is None:
        return False
    compressor = zstandard.ZstdCompressor(level=1)
    with (
        replacing(path) as temporary,
        temporary.open("wb") as raw,
        compressor.stream_writer(raw, closefd=False) as out,
    ):
        written = 0
        text: str | None = first
        while text is not None:
            out.write(json.dumps({"text": text}, ensure_ascii=False).encode("utf-8") + b"\n")
            written += len(text)
            text = next(documents, None) if written < SHARD_CHARACTERS else None
    return True
