"""The hub of a rehearsal: layouts and formats of the public datasets, with real text in them."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from olmix import rehearsal
from olmix.corpus.hub import FolderHub
from olmix.corpus.shards import list_files
from olmix.corpus.sources import read_sources
from olmix.corpus.text import Document, read_documents
from olmix.corpus.tokenizer import load_tokenizer

SOURCES = {
    "web": {
        "dataset": "owner/web",
        "files": ["documents/*.jsonl.zst"],
        "labels": "../topics/{stem}__choice.npy",
        "domains": {"web:a": 0, "web:b": 1},
    },
    "papers": {"dataset": "owner/papers", "domains": {"papers": ["data/*.json.gz"]}},
    "maths": {"dataset": "owner/maths", "domains": {"maths": ["maths/train-*.parquet"]}},
    "again": {
        "dataset": "owner/papers",
        "files_of": "papers",
        "edit": "without_references",
        "domains": {"papers@1": ["data/*.json.gz"]},
    },
    "closed": {"unavailable": "nobody may have it", "domains": {"closed": []}},
}


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub of a few sources, on a text that stands in for what is installed here."""

    def gather(folder: Path, later: Path) -> None:
        for kind in ("prose", "code"):
            path = Path(folder) / kind / "package.jsonl"
            path.parent.mkdir(parents=True)
            lines = [f'{{"text": "{kind} {number} " }}' for number in range(400)]
            path.write_text("\n".join(lines) + "\n")

    monkeypatch.setattr(rehearsal, "gather_demo", gather)
    monkeypatch.setattr(rehearsal, "DOMAIN_CHARACTERS", 500)
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump({"sources": SOURCES}))
    sources = read_sources(tmp_path / "corpora.yaml")
    words = {"repository": "owner/words", "revision": "main", "file": "tokenizer.json"}
    made = rehearsal.make_hub(sources, words, tmp_path / "hub")
    assert all(characters >= 500 for characters in made.values())
    assert set(made) == {"web:a", "web:b", "papers", "maths"}
    return {source.name: source for source in sources}, FolderHub(tmp_path / "hub")


def test_every_source_finds_the_files_it_expects(hub):
    sources, server = hub
    listed = {
        name: [file["path"] for file in list_files(sources[name], server, None)["files"]]
        for name in ("web", "papers", "maths", "again")
    }
    assert listed["papers"] == listed["again"] == ["data/00000.json.gz", "data/00001.json.gz"]
    assert listed["maths"] == ["maths/train-00000.parquet", "maths/train-00001.parquet"]
    assert [path for path in listed["web"] if path.endswith(".npy")] == [
        "topics/00000__choice.npy", "topics/00001__choice.npy"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["web", "papers", "maths"])
def test_files_are_of_the_kind_that_their_names_say(hub, name):
    sources, server = hub
    source = sources[name]
    for entry in list_files(source, server, None)["files"]:
        path = server.root / str(source.dataset) / entry["path"]
        if path.suffix == ".npy":
            continue
        documents = list(read_documents(path))
        assert documents
        assert all(isinstance(document, Document) for document in documents)
        labels = source.labels_of(path)
        if labels is not None:
            found = np.load(labels, allow_pickle=False)
            assert len(found) == len(documents)
            assert set(found.tolist()) == {0, 1}


def test_the_tokenizer_lies_where_the_hub_would_have_it(hub, tmp_path):
    _, server = hub
    path = tmp_path / "tokenizer.json"
    path.write_bytes(server.model_file("owner/words", "main", "tokenizer.json"))
    _, info = load_tokenizer(path, None)
    assert info.vocab_size >= 257
