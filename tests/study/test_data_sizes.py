"""Sizes of public texts and time limits that follow them, against the plain formulas."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from olmix.corpus.sources import TextSource
from olmix.study.data_sizes import preparing_limit, preparing_minutes, text_bytes
from olmix.study.public_data import PublicData

HARDWARE = {"safety": 2, "spare_minutes": 15, "longest_job": 600}


@pytest.fixture
def data(tmp_path: Path) -> PublicData:
    """A web of 6 G tokens in two shards, a source that reads its files, and one of unknown size."""
    web = TextSource("web", {"web": ("*.jsonl",)}, local=False, tokens=6e9, shards=2)
    again = replace(web, name="again", files_of="web", tokens=None)
    own = TextSource("own", {"own": ("/mine/*.jsonl",)})
    settings = {
        "folder": str(tmp_path / "data"),
        "most_files": None,
        "most_shards": None,
        "threads": 4,
        "speeds": {"download_mb": 10, "label_documents": 100, "thread_tokens": 1e5},
    }
    sources = {"web": web, "again": again, "own": own}
    return PublicData(settings, str(tmp_path / "results"), sources)


def test_minutes_are_bytes_documents_and_tokens_of_a_shard_over_their_speeds(data):
    assert preparing_minutes(data, "download_source", "web") == pytest.approx(1.7 * 3e9 / 1e7 / 60)
    assert preparing_minutes(data, "label_topics", "web") == pytest.approx(3e6 / 100 / 60)
    for name in ("web", "again"):
        found = preparing_minutes(data, "tokenize_source", name)
        assert found == pytest.approx(3e9 / 4e5 / 60)


def test_limits_grow_with_the_text_up_to_the_longest_job(data):
    assert preparing_limit(data, "download_source", "web", HARDWARE) == 2 * 8.5 + 15
    assert preparing_limit(data, "tokenize_source", "web", HARDWARE) == 2 * 125 + 15
    assert preparing_limit(data, "label_topics", "web", HARDWARE) == 600
    assert preparing_limit(data, "tokenize_source", "own", HARDWARE) == 600


def test_what_the_hub_has_told_takes_the_place_of_what_is_declared(data):
    listing = Path(data.results) / "list_source" / "web.json"
    listing.parent.mkdir(parents=True)
    listing.write_text(json.dumps({"files": [{"size": 30}, {"size": 12}]}))
    assert text_bytes(data, "web") == text_bytes(data, "again") == 42
    assert text_bytes(data, "own") is None
