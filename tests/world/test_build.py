"""The world on disk: reproducible, consistent with its manifests, and as its design says."""

import json
from pathlib import Path

import numpy as np
import pytest

from olmix.__main__ import main
from olmix.corpus.store import Corpus, TokenStore
from olmix.corpus.tokenizer import load_tokenizer
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.files import sha256
from olmix.paths import CONFIG
from olmix.world.build import SUITE, build_world
from olmix.world.design import WorldDesign


@pytest.fixture(scope="module")
def design() -> WorldDesign:
    return WorldDesign.load(CONFIG / "world.yaml")


@pytest.fixture(scope="module")
def world(design, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("world") / "w"
    build_world(design, 0, out)
    return out


@pytest.fixture(scope="module")
def corpus(world) -> Corpus:
    return Corpus.open(world / "corpus")


def fingerprints(world: Path) -> dict[str, str]:
    files = [path for path in world.rglob("*") if path.is_file()]
    return {str(path.relative_to(world)): sha256(path) for path in files}


def documents(store: TokenStore) -> list[bytes]:
    ids = store.read(0, store.tokens)
    ends = np.flatnonzero(ids == store.tokenizer.end_of_text)
    return [part.astype("<u2").tobytes() for part in np.split(ids, ends + 1)[:-1]]


def test_same_seed_same_bytes_other_seed_other_words(design, world, tmp_path):
    build_world(design, 0, tmp_path / "again")
    assert fingerprints(world) == fingerprints(tmp_path / "again")
    build_world(design, 1, tmp_path / "other")
    assert (world / "tokenizer.json").read_text() != (tmp_path / "other/tokenizer.json").read_text()


def test_manifests_count_what_the_text_is(world, corpus):
    tokenizer, info = load_tokenizer(world / "tokenizer.json")
    assert 180 <= info.vocab_size <= 400
    for domain in corpus.domains:
        store = corpus[domain]
        ids = store.read(0, store.tokens)
        ends = np.flatnonzero(ids == info.end_of_text)
        assert len(ids) == store.tokens
        assert ids[-1] == info.end_of_text
        assert len(ends) == store.documents
        if store.tokens < 100_000:  # decoding the large ones would take long and show the same
            parts = np.split(ids, ends + 1)[:-1]
            texts = tokenizer.decode_batch([part[:-1].tolist() for part in parts])
            assert sum(len(text.encode()) for text in texts) == store.bytes


def test_tokenizer_round_trip_knows_every_word(world, corpus):
    tokenizer, info = load_tokenizer(world / "tokenizer.json")
    ids = corpus["encyclopedia"].read(0, 2000)
    ids = ids[ids != info.end_of_text].tolist()
    assert tokenizer.encode(tokenizer.decode(ids)).ids == ids
    vocabulary = tokenizer.get_vocab()
    suite = Suite.open(world / "suites" / SUITE)
    for task in suite.tasks:
        for row in suite.instances(task):
            words = (row.prompt + row.gold).split()
            assert all(word in vocabulary for word in words)
            assert tokenizer.encode(row.prompt + row.gold).ids == [vocabulary[w] for w in words]
    lengths = {len(word.encode()) for word in vocabulary}
    assert len(lengths) >= 8  # otherwise bits per byte would be bits per word in disguise


def test_sizes_are_those_of_the_design_and_differ_widely(design, world, corpus):
    domains = DomainSet.load(world / "domains.json")
    for domain in domains:
        assert domain.tokens == corpus[domain.name].tokens
        assert domain.tokens == pytest.approx(design.domains[domain.name].tokens, rel=0.02)
    assert domains.tokens.max() > 70 * domains.tokens.min()
    assert sum(corpus.token_counts.values()) < 10_000_000


@pytest.mark.parametrize(("whole", "source"), [("pdf@2", "pdf"), ("code", "code"), ("web", "web")])
def test_a_source_is_exactly_the_union_of_its_topics(world, corpus, whole, source):
    topics = DomainSet.load(world / "domains.json").of_source(source)
    assert corpus[whole].tokens == sum(topic.tokens for topic in topics)
    assert corpus[whole].bytes == sum(corpus[topic.name].bytes for topic in topics)
    together = [text for topic in topics for text in documents(corpus[topic.name])]
    assert sorted(documents(corpus[whole])) == sorted(together)


def test_the_revision_repairs_misread_words_and_nothing_else(design, corpus):
    before, after = corpus["pdf@1"], corpus["pdf@2"]
    old, new = before.read(0, before.tokens), after.read(0, after.tokens)
    end = after.tokenizer.end_of_text
    assert len(old) == len(new)
    assert np.array_equal(old == end, new == end)
    words = len(new) - after.documents
    # A misread word is by chance the right one once in a vocabulary.
    assert (old != new).sum() / words == pytest.approx(design.domains["pdf@1"].misread, abs=0.01)


def test_design_record_repeats_the_design(design, world):
    record = json.loads((world / "design.json").read_text())
    assert list(record["domains"]) == list(design.domains)
    for name, domain in record["domains"].items():
        assert sum(domain["skills"].values()) == pytest.approx(1, abs=1e-4)
        assert domain["tokens"] > 0, name
    for name, task in record["tasks"].items():
        assert task["expected_helpers"] == design.expected_helpers(name)


def test_a_world_is_replaced_and_another_folder_is_not(design, world, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("precious")
    with pytest.raises(OlmixError, match="not a world"):
        build_world(design, 0, mine)
    assert (mine / "thesis.txt").read_text() == "precious"
    out = tmp_path / "w"
    build_world(design, 1, out)
    build_world(design, 0, out)
    assert fingerprints(out) == fingerprints(world)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_command_builds_a_world_and_refuses_a_missing_design(world, tmp_path, capsys):
    assert main(["world", "--out", str(tmp_path / "w")]) == 0
    assert "15 tasks" in capsys.readouterr().out
    assert fingerprints(tmp_path / "w") == fingerprints(world)
    missing = str(tmp_path / "no.yaml")
    assert main(["world", "--out", str(tmp_path / "v"), "--design", missing]) == 2
    assert f"{missing}: no such file" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()
