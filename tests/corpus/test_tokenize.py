"""Tokenising user text: hand counts, resumption to the same bytes, broken lines, bad inputs."""

import contextlib
import errno
import gzip
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from olmix.corpus import parts
from olmix.corpus import tokenize as module
from olmix.corpus.lock import only_run
from olmix.corpus.sources import read_sources, source_from_patterns
from olmix.corpus.store import Corpus
from olmix.corpus.tokenize import bytes_written, tokenize
from olmix.errors import OlmixError
from olmix.files import sha256


def write_lines(path, texts, **fields):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps({"text": text, **fields}) + "\n" for text in texts]
    data = "".join(rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def random_texts(rng, count):
    return [
        " ".join(f"w{n}" for n in rng.integers(0, 200, size=rng.integers(1, 40)))
        for _ in range(count)
    ]


def stores(root):
    """Every visible file of a corpus and its bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.name != "tokenized.json"
    }


@pytest.fixture
def texts(tmp_path):
    """Three files in two domains, ~1,000 documents."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "texts"
    write_lines(folder / "a1.jsonl", random_texts(rng, 400))
    write_lines(folder / "a2.jsonl.gz", random_texts(rng, 300))
    write_lines(folder / "b.jsonl", random_texts(rng, 300))
    return source_from_patterns({"x:a": [f"{folder}/a*"], "b": [f"{folder}/b*"]})


# What is written


def test_hand_count(tmp_path, tokenizer_file):
    (tmp_path / "one.txt").write_text("alpha beta beta ω")  # 4 tokens, 16 + 2 bytes
    write_lines(tmp_path / "two.jsonl", ["alpha", "", "beta w7\n"])  # 1 + 0 + 2 tokens, 5 + 8 bytes
    source = source_from_patterns({"d": [f"{tmp_path}/one.txt", f"{tmp_path}/two.jsonl"]})
    (summary,) = tokenize([source], tmp_path / "out", tokenizer_file)
    assert summary.documents == 4
    assert summary.tokens == 4 + 1 + 0 + 2 + 4  # one end-of-text each
    assert summary.bytes == 18 + 5 + 0 + 8
    assert summary.broken == 0
    store = Corpus.open(tmp_path / "out")["d"]
    # <unk> 0, end-of-text 1, w0 is 2, alpha 202, beta 203.
    assert store.read(0, store.tokens).tolist() == [202, 203, 203, 0, 1, 202, 1, 1, 203, 9, 1]
    assert store.tokenizer.sha256 == sha256(tokenizer_file)
    store.verify()


def test_any_number_of_processes_gives_the_same_bytes(tmp_path, texts, tokenizer_file):
    tokenize([texts], tmp_path / "one", tokenizer_file, processes=1)
    tokenize([texts], tmp_path / "two", tokenizer_file, processes=2)
    assert stores(tmp_path / "one") == stores(tmp_path / "two")
    assert Corpus.open(tmp_path / "one").domains == ["b", "x:a"]
    assert not (tmp_path / "one" / ".parts").exists()


def test_batches_do_not_show(tmp_path, texts, tokenizer_file, monkeypatch):
    tokenize([texts], tmp_path / "one", tokenizer_file)
    monkeypatch.setattr(parts, "BATCH_CHARACTERS", 50)
    tokenize([texts], tmp_path / "two", tokenizer_file)
    assert stores(tmp_path / "one") == stores(tmp_path / "two")


def test_routing_by_column(tmp_path, tokenizer_file):
    rows = [("alpha", "games"), ("beta", "news"), ("w1 w2", "games"), ("w3", "junk"), ("w4", None)]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"text": t, "m": {"topic": v}}) + "\n" for t, v in rows))
    (tmp_path / "c.yaml").write_text(
        f"sources: {{web: {{paths: ['{path}'], column: m.topic, "
        "domains: {'web:games': games, 'web:news': [news, world]}}}"
    )
    summaries = tokenize(read_sources(tmp_path / "c.yaml"), tmp_path / "out", tokenizer_file)
    assert [(s.domain, s.documents, s.tokens) for s in summaries] == [
        ("web:games", 2, 5),
        ("web:news", 1, 2),
    ]
    record = json.loads((tmp_path / "out" / "tokenized.json").read_text())
    assert record["web:games"]["other"] == 2


def test_routing_by_labels(tmp_path, tokenizer_file):
    write_lines(tmp_path / "documents" / "s0_x.jsonl", ["alpha", "w1", "beta"])
    (tmp_path / "topics").mkdir()
    labels = tmp_path / "topics" / "s0_x__choice.npy"
    np.save(labels, np.array([1, 0, 1], dtype=np.int32))
    (tmp_path / "c.yaml").write_text(
        f"sources: {{web: {{paths: ['{tmp_path}/documents/*'], "
        "labels: '../topics/{stem}__choice.npy', domains: {zero: 0, one: 1}}}"
    )
    sources = read_sources(tmp_path / "c.yaml")
    tokenize(sources, tmp_path / "out", tokenizer_file)
    corpus = Corpus.open(tmp_path / "out")
    assert corpus["one"].read(0, 4).tolist() == [202, 1, 203, 1]
    assert corpus["zero"].read(0, 2).tolist() == [3, 1]
    for wrong in ([1, 0], [1, 0, 1, 1]):
        np.save(labels, np.array(wrong))
        with pytest.raises(OlmixError, match=r"__choice.npy: \d labels"):
            tokenize(sources, tmp_path / "out2", tokenizer_file)
    labels.unlink()
    with pytest.raises(OlmixError, match=r"__choice.npy: no such file"):
        tokenize(sources, tmp_path / "out3", tokenizer_file)


# Resumption


SCRIPT = """
import sys
from olmix.corpus import parts
from olmix.corpus.sources import source_from_patterns
from olmix.corpus.tokenize import bytes_written, tokenize

if __name__ == "__main__":
    folder, out, tokenizer, processes = sys.argv[1:]
    source = source_from_patterns({"x:a": [folder + "/a*"], "b": [folder + "/b*"]})
    tokenize([source], out, tokenizer, processes=int(processes))
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_kill_and_resume_gives_the_same_bytes(tmp_path, tokenizer_file, processes):
    rng = np.random.default_rng(1)
    folder, out = tmp_path / "texts", tmp_path / "out"
    for number in range(6):
        write_lines(folder / f"a{number}.jsonl", random_texts(rng, 6000))
    write_lines(folder / "b.jsonl.gz", random_texts(rng, 6000))
    source = source_from_patterns({"x:a": [f"{folder}/a*"], "b": [f"{folder}/b*"]})
    tokenize([source], tmp_path / "whole", tokenizer_file)

    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, folder, out, tokenizer_file, str(processes)]
    killed_midway = 0
    for seen in (1, 3, 5):  # kill when this many parts are finished and the next is under way
        process = subprocess.Popen(command)
        while process.poll() is None and len(list(out.glob(".parts/*/part.json"))) < seen:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL and not (out / "tokenized.json").exists():
            killed_midway += 1
            kept = {path: path.stat().st_mtime_ns for path in out.glob(".parts/*/part.json")}
        if processes > 1:
            time.sleep(0.5)  # the workers notice that their parent is gone
    assert killed_midway == 3
    assert subprocess.run(command).returncode == 0
    assert stores(out) == stores(tmp_path / "whole")
    assert len(kept) >= 5  # the last run found these finished
    assert not (out / ".parts").exists()


def test_progress_counts_what_is_there_while_parts_vanish(tmp_path, monkeypatch):
    for name, size in (("a", 8), ("b", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.bin").write_bytes(bytes(size))
        (tmp_path / name / "part.json").write_text("{}")
    assert bytes_written(tmp_path) == 12
    real = os.scandir

    def a_worker_begins_b_anew(folder):
        if Path(folder).name == "b":
            for path in Path(folder).iterdir():
                path.unlink()
            Path(folder).rmdir()
        return real(folder)

    monkeypatch.setattr(os, "scandir", a_worker_begins_b_anew)
    assert bytes_written(tmp_path) == 8
    assert bytes_written(tmp_path / "nowhere") == 0


@pytest.mark.slow
def test_workers_end_with_their_killed_parent(tmp_path, tokenizer_file):
    rng = np.random.default_rng(2)
    for name in ("a1", "a2", "b"):
        write_lines(tmp_path / "texts" / f"{name}.jsonl", random_texts(rng, 40_000))
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, script, tmp_path / "texts", out, tokenizer_file, "2"],
        env={**os.environ, "OLMIX_TEST_MARK": str(tmp_path)},
    )
    while not list(out.glob(".parts/*/*.bin")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while marked(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked(tmp_path) == []


def marked(tmp_path) -> list[int]:
    """Processes that carry the test's mark in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it may end while we look
            if f"OLMIX_TEST_MARK={tmp_path}".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


def test_finished_parts_are_not_redone(tmp_path, texts, tokenizer_file, monkeypatch):
    out = tmp_path / "out"
    with pytest.raises(RuntimeError, match="stop"), monkeypatch.context() as patch:
        patch.setattr(
            module, "_assemble", lambda *args: (_ for _ in ()).throw(RuntimeError("stop"))
        )
        tokenize([texts], out, tokenizer_file)
    assert len(list(out.glob(".parts/*/part.json"))) == 3
    monkeypatch.setattr(parts, "read_documents", None)  # reading any text would fail now
    tokenize([texts], out, tokenizer_file)
    assert Corpus.open(out)["x:a"].documents == 700


def test_a_damaged_part_is_redone(tmp_path, texts, tokenizer_file, monkeypatch):
    out = tmp_path / "out"
    tokenize([texts], tmp_path / "whole", tokenizer_file)
    with pytest.raises(RuntimeError, match="stop"), monkeypatch.context() as patch:
        patch.setattr(
            module, "_assemble", lambda *args: (_ for _ in ()).throw(RuntimeError("stop"))
        )
        tokenize([texts], out, tokenizer_file)
    first, second, third = sorted(out.glob(".parts/*/*.bin"))
    first.write_bytes(first.read_bytes()[:-2])
    second.unlink()
    (third.parent / "part.json").unlink()
    tokenize([texts], out, tokenizer_file)
    assert stores(out) == stores(tmp_path / "whole")


def test_a_finished_corpus_is_kept(tmp_path, texts, tokenizer_file, monkeypatch):
    first = tokenize([texts], tmp_path / "out", tokenizer_file)
    monkeypatch.setattr(parts, "read_documents", None)
    monkeypatch.setattr(module, "StoreWriter", None)
    assert tokenize([texts], tmp_path / "out", tokenizer_file) == first


def test_what_a_kill_while_joining_leaves_is_removed(tmp_path, texts, tokenizer_file):
    out = tmp_path / "out"
    for name in (".b.0123456789ab.tmp", ".b.0123456789ab.tmp.old"):
        (out / name).mkdir(parents=True)
        (out / name / "manifest.json").write_text("half")
    tokenize([texts], out, tokenizer_file)
    assert {path.name for path in out.iterdir()} == {".lock", "b", "x-a", "tokenized.json"}


def test_changed_input_is_tokenised_again(tmp_path, texts, tokenizer_file):
    tokenize([texts], tmp_path / "out", tokenizer_file)
    untouched = (tmp_path / "out" / "x-a" / "00000.bin").stat().st_mtime_ns
    write_lines(tmp_path / "texts" / "b.jsonl", ["alpha"])
    summaries = tokenize([texts], tmp_path / "out", tokenizer_file)
    assert (summaries[0].domain, summaries[0].tokens) == ("b", 2)
    assert (tmp_path / "out" / "x-a" / "00000.bin").stat().st_mtime_ns == untouched


def test_a_second_run_in_the_same_folder_is_kept_out(tmp_path, texts, tokenizer_file):
    with (
        only_run(tmp_path / "out"),
        pytest.raises(OlmixError, match="another run is writing here"),
    ):
        tokenize([texts], tmp_path / "out", tokenizer_file)


# Broken lines


def test_broken_lines_are_reported_and_counted(tmp_path, tokenizer_file, caplog):
    path = tmp_path / "t.jsonl"
    rows = [json.dumps({"text": "alpha"}) for _ in range(3000)]
    rows[6], rows[1999] = '{"text": ', '{"no": 1}'
    path.write_text("\n".join(rows) + "\n")
    source = source_from_patterns({"d": [str(path)]})
    with caplog.at_level(logging.WARNING):
        (summary,) = tokenize([source], tmp_path / "out", tokenizer_file)
    assert (summary.documents, summary.broken) == (2998, 2)
    messages = [record.getMessage() for record in caplog.records]
    assert any(f"{path}:7: invalid JSON" in message for message in messages)
    assert f"{path}:2000: field 'text' is missing, expected a string" in messages


def test_too_many_broken_lines_stop_the_run_and_keep_its_work(
    tmp_path, tokenizer_file, monkeypatch
):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "alpha"}\n' * 98 + "broken\n" * 2)
    source = source_from_patterns({"d": [str(path)]})
    with pytest.raises(OlmixError, match=r"2 of 100 lines are broken.* 0.01;"):
        tokenize([source], tmp_path / "out", tokenizer_file, max_broken=0.01)
    with pytest.raises(OlmixError, match="no tokenised domain"):
        Corpus.open(tmp_path / "out")
    monkeypatch.setattr(parts, "read_documents", None)
    (summary,) = tokenize([source], tmp_path / "out", tokenizer_file, max_broken=0.02)
    assert (summary.documents, summary.broken) == (98, 2)


def test_a_hopeless_file_stops_early(tmp_path, tokenizer_file):
    path = write_lines(tmp_path / "t.jsonl", ["alpha"] * 3000)
    source = source_from_patterns({"d": [str(path)]}, text_field="body")
    with pytest.raises(OlmixError, match=r"t.jsonl:1000: the first 1000 lines are all broken"):
        tokenize([source], tmp_path / "out", tokenizer_file, processes=2)


# Bad inputs: one clear line each, before anything is read where possible


def test_another_tokenizer_is_refused(tmp_path, texts, tokenizer_file):
    tokenize([texts], tmp_path / "out", tokenizer_file)
    other = tmp_path / "other.json"
    other.write_text(tokenizer_file.read_text().replace("alpha", "gamma"))
    with pytest.raises(OlmixError, match=r"tokenised by another tokenizer .*other.json"):
        tokenize([texts], tmp_path / "out", other)
    with pytest.raises(OlmixError, match=r"tokenised by another tokenizer .*end-of-text 1"):
        tokenize([texts], tmp_path / "out", tokenizer_file, end_of_text="beta")


def test_empty_domain(tmp_path, tokenizer_file):
    (tmp_path / "t.jsonl").write_text("\n\n")
    source = source_from_patterns({"d": [f"{tmp_path}/t.jsonl"]})
    with pytest.raises(OlmixError, match="domain 'd' is empty"):
        tokenize([source], tmp_path / "out", tokenizer_file)


def test_missing_files_and_globs(tmp_path, tokenizer_file):
    for pattern, message in [("gone.txt", "no such file"), ("*.txt", "no file matches")]:
        source = source_from_patterns({"d": [f"{tmp_path}/{pattern}"]})
        with pytest.raises(OlmixError, match=message):
            tokenize([source], tmp_path / "out", tokenizer_file)
    assert not (tmp_path / "out").exists()


def test_names_that_collide(tmp_path, tokenizer_file):
    (tmp_path / "t.txt").write_text("alpha")
    globs = [f"{tmp_path}/t.txt"]
    with pytest.raises(OlmixError, match="'a-b' and 'a:b' would share the folder"):
        tokenize(
            [source_from_patterns({"a:b": globs, "a-b": globs})], tmp_path / "o", tokenizer_file
        )
    twice = [source_from_patterns({"d": globs}), source_from_patterns({"d": globs})]
    with pytest.raises(OlmixError, match="domain 'd' comes from two sources"):
        tokenize(twice, tmp_path / "out", tokenizer_file)


def test_a_full_disk_is_one_line_and_keeps_finished_parts(
    tmp_path, texts, tokenizer_file, monkeypatch
):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_assemble", full)
        with pytest.raises(OlmixError, match="out: No space left on device"):
            tokenize([texts], tmp_path / "out", tokenizer_file)
    monkeypatch.setattr(parts, "read_documents", None)
    assert len(tokenize([texts], tmp_path / "out", tokenizer_file)) == 2


def test_bad_settings(tmp_path, texts, tokenizer_file):
    with pytest.raises(OlmixError, match="0 processes"):
        tokenize([texts], tmp_path / "out", tokenizer_file, processes=0)
    with pytest.raises(OlmixError, match=r"broken lines is 1.5: expected 0 to 1"):
        tokenize([texts], tmp_path / "out", tokenizer_file, max_broken=1.5)


# Memory


MEMORY = """
import resource, sys
from pathlib import Path
from olmix.corpus.sources import source_from_patterns
from olmix.corpus.tokenize import bytes_written, tokenize

folder, tokenizer = sys.argv[1:]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
tokenize([source_from_patterns({"d": [folder + "/small.jsonl"]})], folder + "/small", tokenizer)
before = peak()
tokenize([source_from_patterns({"d": [folder + "/large.jsonl"]})], folder + "/large", tokenizer)
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path, tokenizer_file):
    """A file 20 times larger (60 MB, 200 MB of Python strings) adds less than 30 MB."""
    rng = np.random.default_rng(4)
    lines = b"".join(
        json.dumps({"text": text}).encode() + b"\n" for text in random_texts(rng, 30_000)
    )
    (tmp_path / "small.jsonl").write_bytes(lines)
    with (tmp_path / "large.jsonl").open("wb") as file:
        for _ in range(20):
            file.write(lines)
    assert (tmp_path / "large.jsonl").stat().st_size > 50e6
    finished = subprocess.run(
        [sys.executable, "-c", MEMORY, tmp_path, tokenizer_file],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(finished.stdout) < 30
