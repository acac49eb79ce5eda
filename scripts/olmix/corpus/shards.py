"""A source in shards: what one job lists, downloads, tokenises, and what joins them again.

Each step leaves a manifest, a JSON file that the next one reads. Files and token stores are not
outputs of a job: an interrupted one finds what it has done.
"""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from olmix.corpus.download import DownloadPlan, download, plan_download
from olmix.corpus.hub import FolderHub, Hub, RemoteFile
from olmix.corpus.sources import TextSource, path_matches
from olmix.corpus.store import folder_name, join_stores
from olmix.corpus.tokenize import tokenize
from olmix.corpus.topics import TopicClassifier, label_file
from olmix.errors import OlmixError
from olmix.files import read_json, write_json

__all__ = [
    "download_shard",
    "join_shards",
    "label_shard",
    "list_files",
    "shard_of",
    "tokenize_shard",
]


def list_files(source: TextSource, hub: Hub | FolderHub, most_files: int | None) -> dict[str, Any]:
    """What a source has at the hub: files, sizes and hashes at one commit."""
    return asdict(plan_download(source, None, hub, most_files))


def shard_of(listing: Mapping[str, Any], source: TextSource, number: int, of: int) -> DownloadPlan:
    """The files of one shard: every ``of``-th one of documents, with their labels."""
    files = {entry["path"]: RemoteFile(**entry) for entry in listing["files"]}
    labels = {path: _labels(source, path) for path in files}
    documents = sorted(set(files) - set(labels.values()))[number::of]
    # Labels that a classifier will make are not at the hub.
    mine = [*documents, *(labels[path] for path in documents if labels[path] in files)]
    chosen = tuple(files[path] for path in sorted(set(mine)))
    return DownloadPlan(**{**listing, "files": chosen})


def _labels(source: TextSource, path: str) -> str | None:
    labels = source.labels_of(Path(path))
    return None if labels is None else posixpath.normpath(labels.as_posix())


def download_shard(plan: DownloadPlan, to: str | Path, hub: Hub | FolderHub, out: Path) -> None:
    """Fetch a shard's files below ``to`` and write their manifest."""
    if plan.files:
        download(plan, to, hub)
    files = [{"path": file.path, "size": file.size} for file in plan.files]
    record = {"dataset": plan.dataset, "commit": plan.commit, "folder": str(to), "files": files}
    write_json(out, {"source": plan.source, "bytes": plan.bytes, **record})


def label_shard(
    source: TextSource,
    number: int,
    of: int,
    *,
    downloaded: Path | None,
    classifier: TopicClassifier,
    out: Path,
) -> None:
    """Label the documents of a shard by a classifier, a file beside each, and write how many."""
    files = _shard_files(source, number, of, downloaded)
    counts = {}
    for path in sorted(path for paths in files.values() for path in paths):
        labels = source.labels_of(path)
        if labels is not None:
            counts[str(path)] = label_file(path, labels, classifier, source.text_field)
    write_json(out, {"source": source.name, "labelled": counts})


def tokenize_shard(
    source: TextSource,
    number: int,
    of: int,
    *,
    downloaded: Path | None,
    tokenizer: Path,
    processes: int,
    to: Path,
    out: Path,
) -> None:
    """Tokenise a shard's files below ``to``, a store per domain, and write their manifest.

    ``downloaded`` is the manifest of the shard's files; a source with paths of its own has none.
    """
    mine = source.only(_shard_files(source, number, of, downloaded))
    summaries = []
    if mine.patterns:
        summaries = tokenize([mine], to, tokenizer, processes=processes, may_be_empty=True)
    stores = {summary.domain: str(to / folder_name(summary.domain)) for summary in summaries}
    counts = [asdict(summary) for summary in summaries]
    write_json(out, {"source": source.name, "stores": stores, "domains": counts})


def _shard_files(
    source: TextSource, number: int, of: int, downloaded: Path | None
) -> dict[str, list[Path]]:
    """The files of a shard by domain: a share of those here, or those that were downloaded."""
    if source.local:
        return {domain: paths[number::of] for domain, paths in source.files().items()}
    if downloaded is None:
        raise OlmixError(f"source {source.name!r}: nothing was downloaded for it")
    return _downloaded_files(source, read_json(downloaded))


def _downloaded_files(source: TextSource, manifest: Mapping[str, Any]) -> dict[str, list[Path]]:
    """The files of each domain among those of a manifest; labels match no pattern."""
    root = Path(manifest["folder"]) / manifest["dataset"]
    paths = [entry["path"] for entry in manifest["files"]]
    return {
        domain: [root / path for path in paths if any(path_matches(path, p) for p in patterns)]
        for domain, patterns in source.patterns.items()
    }


def join_shards(source: TextSource, shards: Iterable[Path], corpus: Path, out: Path) -> None:
    """Join the stores of all shards of a source into the corpus, and write what there is."""
    stores: dict[str, list[str]] = {}
    for shard in shards:
        for domain, folder in read_json(shard)["stores"].items():
            stores.setdefault(domain, []).append(folder)
    empty = [domain for domain in source.domains if domain not in stores]
    if empty:
        raise OlmixError(f"source {source.name!r}: no document of domain {empty[0]!r}")
    manifests = {
        domain: join_stores(folders, corpus / folder_name(domain))
        for domain, folders in sorted(stores.items())
    }
    counted = {
        domain: {key: manifest[key] for key in ("tokens", "bytes", "documents")}
        for domain, manifest in manifests.items()
    }
    write_json(out, {"source": source.name, "corpus": str(corpus), "domains": counted})
