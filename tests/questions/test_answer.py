from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, write_json
from olmix.paths import CONFIG
from olmix.proposers.method import Method
from olmix.questions.answer import Answer, QuestionData
from olmix.tables import SwarmTable

TABLE = SwarmTable(
    ("r0", "r1"), ("a", "b"), np.array([[0.5, 0.5], [0.1, 0.9]]), ("x", "y"),
    np.array([[1.0, 3.0], [2.0, 5.0]]),
)  # fmt: skip
PROPOSALS = {"study": {"base": {"average": 0.5}}}


@pytest.fixture
def data(question):
    return question({"kl": 0.05}, {"swarm": TABLE}, PROPOSALS, {"qa": ["x"], "code": ["y"]})


def test_inputs_by_name(data):
    table = data.table("swarm")
    assert table.runs == TABLE.runs
    np.testing.assert_array_equal(table.metrics, TABLE.metrics)
    assert data.averages("swarm") == {"r0": 2.0, "r1": 3.5}
    assert data.proposal("study", "base") == {"average": 0.5}
    assert data.families == {"qa": ["x"], "code": ["y"]}
    with pytest.raises(OlmixError, match="no swarm 'other' among swarm"):
        data.table("other")


def test_repetitions_are_averaged_and_say_how_far_apart_they_are(question):
    again = replace(TABLE, metrics=TABLE.metrics + np.array([[0.2, 0.2], [0.0, 0.0]]))
    data = question({}, {"first": TABLE, "again": again})
    assert data.averages(["first", "again"]) == pytest.approx({"r0": 2.1, "r1": 3.5})
    # Half the difference: the deviation of two is |a - b|/√2, their mean's that over √2.
    assert data.errors(["first", "again"]) == pytest.approx({"r0": 0.1, "r1": 0.0})
    assert all(np.isnan(error) for error in data.errors(["again"]).values())


def test_repetitions_follow_the_names_of_runs(question):
    swapped = TABLE.rows([1, 0])
    data = question({}, {"first": TABLE, "again": swapped})
    assert data.averages(["first", "again"]) == {"r0": 2.0, "r1": 3.5}


def test_from_the_workflows_job(data, tmp_path):
    class Inputs(SimpleNamespace):
        def get(self, name, default):
            return getattr(self, name, default)

    for shard, runs in (("0", ("natural", "one")), ("1", ("two",))):
        for run in runs:
            (tmp_path / "train" / "targets" / shard / run).mkdir(parents=True)
    job = SimpleNamespace(
        params=SimpleNamespace(
            scale="tiny",
            settings={"seeds": 1},
            tables=["swarm"],
            planned={"main": "swarm"},
            method={"regressor": "bimix", "granularity": "family", "proposer": "search"},
        ),
        input=Inputs(
            data=str(data.data),
            ratios=[str(data.tables["swarm"][0])],
            metrics=[str(data.tables["swarm"][1])],
            proposals=[str(data.proposals["study"])],
            runs=[str(tmp_path / "train" / "targets" / shard) for shard in "01"],
        ),
    )
    found = QuestionData.from_job(job)
    assert found.averages(found.planned["main"]) == data.averages("swarm")
    assert found.method == Method("bimix", "family", "search")
    assert found.proposal("study", "base") == {"average": 0.5}
    assert {run: path.parent.name for run, path in found.runs["targets"].items()} == {
        "natural": "0", "one": "0", "two": "1",
    }  # fmt: skip
    del job.input.runs, job.input.proposals
    assert QuestionData.from_job(job).runs == {}


def test_the_sequence_is_on_counted_domains(data):
    counted = {d.name: d.tokens + 1 for d in DomainSet.load(CONFIG / "domains" / "tiny.yaml")}
    DomainSet.from_token_counts(counted).save(data.data / "domains.json")
    sized = replace(data, settings={"updates": CONFIG / "updates" / "smoke.yaml"})
    first = sized.sequence.initial.domains[0]
    assert first.tokens == counted[first.name]


def test_an_answer_says_where_it_comes_from(data, tmp_path):
    result = Answer(tmp_path / "rq0", "rq0", data)
    result.table("numbers", pd.DataFrame({"run": ["r0"], "bpb": [2.0]}))
    result.finish({"best": "r0"})
    assert (tmp_path / "rq0" / "numbers.csv").read_text() == "run,bpb\nr0,2.0\n"
    assert read_json(tmp_path / "rq0" / "summary.json") == {"question": "rq0", "best": "r0"}
    record = read_json(tmp_path / "rq0" / "provenance.json")
    assert (record["question"], record["scale"], record["seeds"]) == ("rq0", "made-up", 1)
    assert record["config_hash"] == content_hash(dict(data.settings))
    assert record["inputs"] == [str(data.tables["swarm"][0].parent)]
    assert {"numpy", "torch", "snakemake"} <= set(record["versions"])


def test_a_summary_without_a_number_is_refused(data, tmp_path):
    with pytest.raises(OlmixError, match="refusing to write"):
        Answer(tmp_path / "rq0", "rq0", data).finish({"best": float("nan")})


def test_an_answer_of_simulated_runs_says_so(question, tmp_path):
    data = question({"engine": "simulate"}, {"swarm": TABLE})
    Answer(tmp_path / "rq0", "rq0", data).finish({"best": "r0"})
    for name in ("summary", "provenance"):
        notice = read_json(tmp_path / "rq0" / f"{name}.json")["notice"]
        assert notice.startswith("MEASURED LAW")
    assert read_json(tmp_path / "rq0" / "provenance.json")["engine"] == "simulate"
    (note,) = read_json(tmp_path / "rq0" / "summary.json")["notes"]
    assert "one of the laws" in note, "that of other laws may differ"


def test_tiny_models_are_counted_over_the_vocabulary_of_the_data(question):
    data = question({}, {"swarm": TABLE})
    assert data.tiny_parameters({"30m": "30m", "target": "1b"}) == {}
    words = {"<|endoftext|>": 0, "a": 1, "b": 2, "[UNK]": 3}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}
    write_json(data.data / "tokenizer.json", {"version": "1.0", "model": model, "added_tokens": []})
    # Two matrices of 4 × 8, one layer of 4·8² + 3·8·32 + 4·8, the last norm of 8.
    expected = 2 * 4 * 8 + (4 * 64 + 3 * 8 * 32 + 4 * 8) + 8
    assert data.tiny_parameters({"1m": "tiny-1m", "30m": "30m"}) == {"1m": expected}
