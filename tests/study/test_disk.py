"""Room on the disks: what is needed of each, and what is said where it is not there."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from olmix.corpus.sources import TextSource
from olmix.model.shapes import shape
from olmix.study import disk
from olmix.study.disk import (
    Need,
    checkpoints_need,
    data_needs,
    lacking_room,
    weights_need,
)
from olmix.study.public_data import PublicData


@pytest.fixture
def data(tmp_path: Path) -> PublicData:
    """A source of 2,000 tokens in two shards, whose files another source reads, too."""
    web = TextSource("web", {"web": ("*.jsonl",)}, local=False, tokens=2000, shards=2)
    again = replace(web, name="again", files_of="web", tokens=None)
    settings = {"folder": str(tmp_path / "data"), "most_files": None, "most_shards": None}
    return PublicData(settings, str(tmp_path / "results"), {"web": web, "again": again})


def test_shards_at_hand_need_their_text_and_four_bytes_a_token(data):
    tokenised = [("web", 0), ("again", 0), ("again", 1)]
    downloads, tokens = data_needs(data, [("web", 1)], tokenised)
    assert downloads == Need("downloads", data.folder, pytest.approx(1700))
    assert tokens == Need("tokens", data.folder, pytest.approx(3 * 4 * 1000))


def test_what_is_there_of_a_shard_is_not_needed_again(data):
    part = Path(data.folder) / "downloads" / "web" / "1" / "owner" / ".a.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(700))
    downloads, _ = data_needs(data, [("web", 0), ("web", 1)], [])
    assert downloads.bytes == pytest.approx(1700 + 1000)


def test_a_sample_of_unknown_size_is_not_held_against_the_disk(data):
    sampled = replace(data, settings={**data.settings, "most_files": 3})
    assert [need.bytes for need in data_needs(sampled, [("web", 0)], [("web", 0)])] == [0, 0]


def test_weights_are_four_bytes_a_parameter_of_every_run():
    # Both vocabulary matrices: one more than the 29,102,336 of the released token budget.
    parameters = 29_102_336 + 100_352 * 256
    assert weights_need([("30m", 3), ("30m", 1)], "results").bytes == 4 * 4 * parameters


def test_checkpoints_are_those_of_the_largest_jobs_that_may_train_at_once():
    small, large = (shape(name).parameters for name in ("30m", "1b"))
    jobs = ["30m", "1b", "30m"]
    # Weights and two moments of four bytes each, three times while a checkpoint is replaced.
    assert checkpoints_need(jobs, 2, "results").bytes == 36 * (large + small)
    assert checkpoints_need(jobs, None, "results").bytes == 36 * (large + 2 * small)


def test_needs_on_one_disk_are_added_and_said_in_a_sentence(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=5e12)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda place: usage)
    needs = [
        Need("downloads", str(tmp_path / "data" / "paper"), 3e12),
        Need("tokens", str(tmp_path / "data" / "paper"), 1.5e12),
        Need("weights of runs", str(tmp_path / "results"), 0.4e12),
    ]
    assert lacking_room(needs) == []
    usage.free = 4.8e12
    (said,) = lacking_room(needs)
    assert said.startswith("too little room: 3 TB of downloads below ")
    assert "0.4 TB of weights of runs below" in said
    assert "4.8 TB are free" in said
