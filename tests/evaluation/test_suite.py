import gzip
import json

import pytest

from olmix.errors import OlmixError
from olmix.evaluation.suite import Instance, Suite, SuiteWriter

ROWS = [("a =", " b"), ("één", " 日本\n")]


def test_what_is_written_is_read(tmp_path):
    for compress in (False, True):
        folder = tmp_path / str(compress)
        with SuiteWriter(folder, "two", compress=compress) as writer:
            writer.add("math:sums", "math", ROWS, {"shots": 3})
            writer.add("code", "code", ROWS[:1])
            writer.add_mean("both", "math", ["math:sums", "code"])
        suite = Suite.open(folder)
        assert suite.name == "two"
        assert suite.families == {"math": ["math:sums", "both"], "code": ["code"]}
        assert suite.instances(suite.tasks[0]) == [Instance(*row) for row in ROWS]
        assert suite.tasks[0].about == {"shots": 3}
        assert suite.tasks[0].file == "math-sums.jsonl" + (".gz" if compress else "")
        assert suite.tasks[2].mean_of == ("math:sums", "code")
        assert suite.instances(suite.tasks[2]) == []


def test_hash_follows_the_contents_and_not_the_packing(tmp_path):
    def suite_hash(folder, rows, *, family="math", compress=False, about=None):
        with SuiteWriter(tmp_path / folder, folder, compress=compress) as writer:
            writer.add("sums", family, rows, about)
        return Suite.open(tmp_path / folder).hash

    first = suite_hash("first", ROWS)
    assert suite_hash("packed", ROWS, compress=True) == first
    assert suite_hash("described", ROWS, about={"note": "reworded"}) == first
    assert suite_hash("changed", [("a =", " c"), ROWS[1]]) != first
    assert suite_hash("fewer", ROWS[:1]) != first
    assert suite_hash("regrouped", ROWS, family="qa") != first


def test_compressed_files_have_the_same_bytes_every_time(tmp_path):
    for name in ("one", "two"):
        with SuiteWriter(tmp_path / name, "same", compress=True) as writer:
            writer.add("sums", "math", ROWS)
    first, second = (tmp_path / name / "sums.jsonl.gz" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).count(b"\n") == 2


def test_a_failed_write_leaves_no_suite(tmp_path):
    with SuiteWriter(tmp_path, "good") as writer:
        writer.add("sums", "math", ROWS)
    with pytest.raises(RuntimeError), SuiteWriter(tmp_path, "bad") as writer:
        writer.add("sums", "math", ROWS)
        raise RuntimeError
    with pytest.raises(OlmixError, match="not a task suite"):
        Suite.open(tmp_path)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"instances": 0}, "task 'sums' is empty"),
        ({"file": "gone.jsonl"}, "gone.jsonl: no such file"),
        ({"name": "code"}, "task 'code' appears twice"),
        ({"file": None}, "neither 'file' nor 'mean_of'"),
        ({"file": None, "mean_of": ["ghost"]}, "is the mean of 'ghost'"),
        ({"instances": "many"}, "malformed"),
    ],
)
def test_a_bad_table_of_contents_is_refused(tmp_path, entry, message):
    with SuiteWriter(tmp_path, "suite") as writer:
        writer.add("sums", "math", ROWS)
        writer.add("code", "code", ROWS)
    contents = json.loads((tmp_path / "suite.json").read_text())
    contents["tasks"][0] |= entry
    (tmp_path / "suite.json").write_text(json.dumps(contents))
    with pytest.raises(OlmixError, match=message):
        Suite.open(tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('{"prompt": "a", "gold": ""}', r"sums.jsonl:1: gold is ''"),
        ('{"prompt": "a", "gold": " b"}\n{"prompt": "a"}', r"sums.jsonl:2: not a row"),
        ('{"prompt": "", "gold": " b"}', r"sums.jsonl:1: prompt is ''"),
        ('{"prompt": "a", "gold": 3}', r"sums.jsonl:1: gold is 3"),
        ("not json", r"sums.jsonl:1: not a row"),
        ('{"prompt": "a", "gold": " b"}', r"1 instances, but suite.json says 2"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(tmp_path, rows, message):
    with SuiteWriter(tmp_path, "suite") as writer:
        writer.add("sums", "math", ROWS)
    (tmp_path / "sums.jsonl").write_text(rows)
    suite = Suite.open(tmp_path)
    with pytest.raises(OlmixError, match=message):
        suite.instances(suite.tasks[0])


def test_a_truncated_gzip_file_is_refused(tmp_path):
    with SuiteWriter(tmp_path, "suite", compress=True) as writer:
        writer.add("sums", "math", ROWS)
    path = tmp_path / "sums.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-6])
    suite = Suite.open(tmp_path)
    with pytest.raises(OlmixError, match=r"sums.jsonl.gz: damaged gzip file"):
        suite.instances(suite.tasks[0])


def test_tasks_that_would_share_a_file_are_refused(tmp_path):
    with (
        pytest.raises(OlmixError, match=r"share the file 'a-b.jsonl'"),
        SuiteWriter(tmp_path, "suite") as writer,
    ):
        writer.add("a:b", "math", ROWS)
        writer.add("a/b", "math", ROWS)
