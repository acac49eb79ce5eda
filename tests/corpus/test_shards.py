"""A source in shards: dealt to jobs, downloaded, tokenised and joined as if it were one."""

import json

import numpy as np
import pytest
import yaml
import zstandard

from olmix.corpus.hub import FolderHub, NotFoundError, open_hub
from olmix.corpus.shards import (
    download_shard,
    join_shards,
    list_files,
    shard_of,
    tokenize_shard,
)
from olmix.corpus.sources import read_sources
from olmix.corpus.store import Corpus
from olmix.corpus.tokenize import tokenize
from olmix.errors import OlmixError

SHARDS = 2


def write_lines(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    path.write_bytes(zstandard.ZstdCompressor().compress(lines.encode()))


@pytest.fixture
def hub(tmp_path):
    """Three labelled files: topic 0 in all of them, topic 1 in the last alone."""
    root = tmp_path / "hub"
    for number in range(3):
        texts = [f"alpha w{number} w{line}" for line in range(4)]
        write_lines(root / "owner" / "web" / "documents" / f"{number}.jsonl.zst", texts)
        labels = root / "owner" / "web" / "topics" / f"{number}.npy"
        labels.parent.mkdir(exist_ok=True)
        np.save(labels, np.array([0, 0, 0, 1 if number == 2 else 0]))
    return FolderHub(root)


@pytest.fixture
def web(tmp_path):
    entry = {
        "dataset": "owner/web",
        "files": ["documents/*.jsonl.zst"],
        "labels": "../topics/{stem}.npy",
        "domains": {"web:a": 0, "web:b": 1},
        "shards": SHARDS,
    }
    path = tmp_path / "corpora.yaml"
    path.write_text(yaml.safe_dump({"sources": {"web": entry}}))
    return read_sources(path)[0]


def prepared(web, hub, tokenizer_file, folder):
    listing = json.loads(json.dumps(list_files(web, hub, None)))
    tokenised = []
    for number in range(SHARDS):
        plan = shard_of(listing, web, number, SHARDS)
        files, stores = folder / f"files{number}.json", folder / f"stores{number}.json"
        download_shard(plan, folder / "downloads" / str(number), hub, files)
        tokenize_shard(
            web, number, SHARDS, downloaded=files, tokenizer=tokenizer_file, processes=1,
            to=folder / "shards" / str(number), out=stores,
        )  # fmt: skip
        tokenised.append(stores)
    join_shards(web, tokenised, folder / "corpus", folder / "joined.json")
    return listing


def test_every_file_is_in_one_shard_with_its_labels(web, hub):
    listing = list_files(web, hub, None)
    dealt = [[file.path for file in shard_of(listing, web, n, SHARDS).files] for n in range(SHARDS)]
    assert dealt[0] == [
        "documents/0.jsonl.zst", "documents/2.jsonl.zst", "topics/0.npy", "topics/2.npy"
    ]  # fmt: skip
    assert dealt[1] == ["documents/1.jsonl.zst", "topics/1.npy"]


def test_shards_joined_hold_what_tokenising_at_once_holds(web, hub, tokenizer_file, tmp_path):
    prepared(web, hub, tokenizer_file, tmp_path / "data")
    found = Corpus.open(tmp_path / "data" / "corpus")
    tokenize([web], tmp_path / "whole", tokenizer_file, downloads=hub.root)
    whole = Corpus.open(tmp_path / "whole")
    assert found.token_counts == whole.token_counts == {"web:a": 44, "web:b": 4}
    for domain in found.domains:
        ours, theirs = (c[domain].read(0, c[domain].tokens) for c in (found, whole))
        assert sorted(ours) == sorted(theirs)
        found[domain].verify()


def test_what_was_done_is_not_done_again(web, hub, tokenizer_file, tmp_path):
    prepared(web, hub, tokenizer_file, tmp_path / "data")
    files = [*(tmp_path / "data").rglob("*.zst"), *(tmp_path / "data" / "shards").rglob("*.bin")]
    before = {path: path.stat().st_mtime_ns for path in files}
    prepared(web, hub, tokenizer_file, tmp_path / "data")
    assert len(before) == 3 + 3
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_a_domain_without_a_document_is_refused(web, hub, tokenizer_file, tmp_path):
    np.save(hub.root / "owner" / "web" / "topics" / "2.npy", np.zeros(4, dtype=int))
    with pytest.raises(OlmixError, match="source 'web': no document of domain 'web:b'"):
        prepared(web, hub, tokenizer_file, tmp_path / "data")


def test_a_source_with_paths_is_dealt_without_a_download(tokenizer_file, tmp_path):
    for number in range(3):
        write_lines(tmp_path / "own" / f"{number}.jsonl.zst", [f"beta w{number}"])
    path = tmp_path / "corpora.yaml"
    paths = [str(tmp_path / "own" / "*.jsonl.zst")]
    path.write_text(yaml.safe_dump({"sources": {"own": {"paths": paths}}}))
    (own,) = read_sources(path)
    for number in range(SHARDS):
        tokenize_shard(
            own, number, SHARDS, downloaded=None, tokenizer=tokenizer_file, processes=1,
            to=tmp_path / str(number), out=tmp_path / f"{number}.json",
        )  # fmt: skip
    counts = [json.loads((tmp_path / f"{n}.json").read_text())["domains"] for n in range(SHARDS)]
    assert [count["documents"] for shard in counts for count in shard] == [2, 1]


def test_an_address_is_a_hub_and_anything_else_a_folder(tmp_path):
    assert open_hub("https://example.org").endpoint == "https://example.org"
    mirror = open_hub(str(tmp_path))
    with pytest.raises(NotFoundError, match=r"tokenizer\.json: no such file"):
        mirror.model_file("owner/words", "main", "tokenizer.json")
    with pytest.raises(OlmixError, match="no such folder, expected a mirror of the hub"):
        open_hub(str(tmp_path / "none"))
