"""Clean shards: all documents but the held-out ones, kept when interrupted."""

from pathlib import Path

import pytest

from olmix.corpus.text import read_documents
from olmix.own_text import batches, gather
from olmix.own_text.prints import document_prints


def gathered(folder: Path) -> list[str]:
    shards = sorted(folder.glob("*.jsonl.zst"))
    return [entry.text for shard in shards for entry in read_documents(shard)]


@pytest.fixture
def files(folder: Path) -> dict[str, list[Path]]:
    return {"english": sorted((folder / "english").iterdir())}


def test_every_document_is_there_but_the_held_out_ones_and_their_copies(files, tmp_path: Path):
    texts = [path.read_text() for path in files["english"]]
    copy, near = (files["english"][0].with_name(name) for name in ("copy.txt", "near.txt"))
    copy.write_text(texts[0].upper())
    near.write_text(texts[1] + " the end")
    held_out = frozenset(found for text in texts[:3] for found in document_prints(text))
    out = tmp_path / "out"
    gather.gather({"english": [*files["english"], copy, near]}, {"english": out}, held_out)
    assert gathered(out) == texts[3:]


def test_shards_end_at_their_size(files, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(gather, "SHARD_CHARACTERS", 2000)
    gather.gather(files, {"english": tmp_path / "out"}, frozenset())
    assert len(list((tmp_path / "out").glob("*.zst"))) > 5
    assert gathered(tmp_path / "out") == [path.read_text() for path in files["english"]]


def test_what_was_gathered_is_not_gathered_again_until_something_changes(
    files, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(batches, "BATCH_BYTES", 2**16)
    read: list[Path] = []
    original = gather.read_texts

    def stop_in_the_middle(path: Path, field: str):
        read.append(path)
        if len(read) == 40:
            raise KeyboardInterrupt
        return original(path, field)

    monkeypatch.setattr(gather, "read_texts", stop_in_the_middle)
    out = {"english": tmp_path / "out"}
    texts = sorted(path.read_text() for path in files["english"])
    with pytest.raises(KeyboardInterrupt):
        gather.gather(files, out, frozenset())
    gather.gather(files, out, frozenset())
    assert 60 < len(read) < 100, "whole batches are kept, only the broken one is read again"
    assert sorted(gathered(out["english"])) == texts
    before = len(read)
    gather.gather(files, out, frozenset())
    assert len(read) == before
    files["english"][5].write_text("another document")
    gather.gather(files, out, frozenset())
    assert "another document" in gathered(out["english"])
