"""Token stores: exact counts, shards read as one stream, damage refused."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo, TokenStore, folder_name
from olmix.errors import OlmixError

SMALL = TokenizerInfo(sha256="a" * 64, vocab_size=100, end_of_text=0)


def write(root: Path, domain: str, documents, tokenizer=SMALL, shard_tokens=2**28) -> Path:
    folder = root / folder_name(domain)
    with StoreWriter(
        folder, domain=domain, tokenizer=tokenizer, shard_tokens=shard_tokens
    ) as writer:
        for ids in documents:
            writer.add(ids, bytes=3 * len(ids))
    return folder


def test_counts_are_a_hand_count(tmp_path):
    folder = write(tmp_path, "web:games", [[5, 6, 7], [8], [9, 10]])
    manifest = json.loads((folder / "manifest.json").read_text())
    # 3 + 1 + 2 ids, one end-of-text each, 3 bytes an id.
    assert (manifest["tokens"], manifest["bytes"], manifest["documents"]) == (9, 18, 3)
    assert manifest["domain"] == "web:games"
    assert manifest["dtype"] == "uint16"
    raw = (folder / "00000.bin").read_bytes()
    assert raw == np.array([5, 6, 7, 0, 8, 0, 9, 10, 0], dtype="<u2").tobytes()
    assert manifest["shards"][0]["sha256"] == hashlib.sha256(raw).hexdigest()


def test_large_vocabulary_is_uint32(tmp_path):
    info = TokenizerInfo(sha256="b" * 64, vocab_size=2**16 + 1, end_of_text=2**16)
    store = TokenStore.open(write(tmp_path, "d", [[70, 2**16 - 1]], info))
    assert store.manifest["dtype"] == "uint32"
    assert store.read(0, 3).tolist() == [70, 2**16 - 1, 2**16]
    assert TokenizerInfo("b", 2**16, 0).dtype == "uint16"


@pytest.mark.parametrize("shard_tokens", [1, 7, 50, 10**6])
def test_reads_across_shards_equal_the_stream(tmp_path, shard_tokens):
    rng = np.random.default_rng(1)
    documents = [rng.integers(1, 100, size=rng.integers(0, 20)) for _ in range(60)]
    stream = np.concatenate([np.append(ids, 0) for ids in documents])
    store = TokenStore.open(write(tmp_path, "d", documents, shard_tokens=shard_tokens))
    store.verify()
    assert store.tokens == len(stream)
    assert np.array_equal(store.read(0, store.tokens), stream)
    for _ in range(200):
        start, stop = sorted(rng.integers(0, store.tokens + 1, size=2))
        assert np.array_equal(store.read(start, stop), stream[start:stop])
    for shard in store.manifest["shards"][:-1]:
        assert shard["tokens"] >= shard_tokens


def test_read_outside_is_refused(tmp_path):
    store = TokenStore.open(write(tmp_path, "d", [[1, 2]]))
    for start, stop in [(-1, 2), (0, 4), (2, 1)]:
        with pytest.raises(OlmixError, match="it has 3"):
            store.read(start, stop)


def test_truncated_shard(tmp_path):
    folder = write(tmp_path, "d", [[1, 2, 3]])
    shard = folder / "00000.bin"
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(OlmixError, match=r"00000.bin: truncated.* 7 bytes instead of the 8"):
        TokenStore.open(folder)
    shard.unlink()
    with pytest.raises(OlmixError, match="missing shard"):
        TokenStore.open(folder)


def test_altered_shard_is_found_by_verify(tmp_path):
    folder = write(tmp_path, "d", [[1, 2, 3]])
    data = bytearray((folder / "00000.bin").read_bytes())
    data[0] ^= 1
    (folder / "00000.bin").write_bytes(data)
    with pytest.raises(OlmixError, match="SHA-256"):
        TokenStore.open(folder).verify()


def test_damaged_manifest(tmp_path):
    folder = write(tmp_path, "d", [[1, 2, 3]])
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "tokens": 5}))
    with pytest.raises(OlmixError, match="5 tokens in total, but its shards hold 4"):
        TokenStore.open(folder)
    del manifest["tokenizer"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(OlmixError, match=r"not a token manifest.*tokenizer"):
        TokenStore.open(folder)


def test_nothing_is_left_of_a_failed_write(tmp_path):
    folder = tmp_path / "d"
    with (
        pytest.raises(RuntimeError),
        StoreWriter(folder, domain="d", tokenizer=SMALL) as writer,
    ):
        writer.add([1], bytes=1)
        raise RuntimeError("killed")
    assert list(tmp_path.iterdir()) == []


def test_failed_rewrite_keeps_the_old_store(tmp_path):
    folder = write(tmp_path, "d", [[1, 2]])
    with pytest.raises(OlmixError, match="token id 100 is outside the vocabulary of 100"):
        write(tmp_path, "d", [[3], [100]])
    assert TokenStore.open(folder).read(0, 3).tolist() == [1, 2, 0]
    write(tmp_path, "d", [[3]])
    assert TokenStore.open(folder).read(0, 2).tolist() == [3, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_empty_domain_is_refused(tmp_path):
    with pytest.raises(OlmixError, match="domain 'd' is empty"):
        write(tmp_path, "d", [])
    with pytest.raises(OlmixError, match="no tokenised domain"):
        Corpus.open(tmp_path)
    with pytest.raises(OlmixError, match="no such corpus folder"):
        Corpus.open(tmp_path / "nowhere")


def test_negative_ids_and_bad_names(tmp_path):
    with pytest.raises(OlmixError, match="token id -1"):
        write(tmp_path, "d", [[-1]])
    for name in ("", ".hidden"):
        with pytest.raises(OlmixError, match="domain name"):
            folder_name(name)
    assert folder_name("stack-edu:C++ x/y") == "stack-edu-C---x-y"
    with pytest.raises(OlmixError, match="end-of-text id 5"):
        TokenizerInfo("a", 5, 5)


def test_corpus(tmp_path):
    write(tmp_path, "web:games", [[1, 2]])
    write(tmp_path, "arxiv", [[3]])
    (tmp_path / ".half.tmp").mkdir()
    (tmp_path / ".half.tmp" / "manifest.json").write_text("{")
    corpus = Corpus.open(tmp_path)
    assert corpus.domains == ["arxiv", "web:games"]
    assert corpus.token_counts == {"arxiv": 2, "web:games": 3}
    assert corpus.tokenizer == SMALL
    with pytest.raises(OlmixError, match=r"unknown domain 'web:game' .* web:games"):
        corpus["web:game"]


def test_fingerprint_follows_the_tokens(tmp_path):
    write(tmp_path / "one", "d", [[1, 2]])
    write(tmp_path / "two", "d", [[1, 2]])
    write(tmp_path / "three", "d", [[2, 1]])
    one, two, three = (Corpus.open(tmp_path / n).fingerprint for n in ("one", "two", "three"))
    assert one == two != three


def test_two_tokenizers_in_one_corpus(tmp_path):
    write(tmp_path, "a", [[1]])
    write(tmp_path, "b", [[1]], TokenizerInfo("c" * 64, 100, 0))
    with pytest.raises(OlmixError, match=r"different tokenizers .*aaaa.* and .*cccc"):
        Corpus.open(tmp_path)


def test_one_domain_in_two_folders(tmp_path):
    write(tmp_path, "a", [[1]])
    write(tmp_path, "a", [[1]]).rename(tmp_path / "copy")
    write(tmp_path, "a", [[1]])
    with pytest.raises(OlmixError, match="domain 'a' is in two folders"):
        Corpus.open(tmp_path)
