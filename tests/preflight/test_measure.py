"""Measuring on the CPU at hand: in one process, and in several with gloo."""

import dataclasses
import json

import pytest
import torch

from olmix.corpus.store import Corpus
from olmix.evaluation.tokens import lay_out
from olmix.preflight.measure import Subject, measure
from olmix.preflight.place import Place, forget_cached
from olmix.preflight.stand_ins import counting_corpus, random_instances
from olmix.preflight.tolerance import TOLERANCE
from olmix.training.distributed import Processes
from olmix.training.sharding import SHARDINGS

HARDWARE = {
    "device": "cpu", "peak_tflops": 0.1, "utilisation": 0.3, "step_seconds": 0.002,
    "evaluation_minutes": 0.005, "safety": 3, "spare_minutes": 20, "longest_job": 1440,
    "process_mb": 2000, "device_gb": 2, "devices": 2,
}  # fmt: skip
ASKED = Subject(
    name="30m",
    model={"shape": "tiny-30m", "vocabulary": 64, "tokens": 10240, "gpu": 0},
    hardware=HARDWARE,
    batch_tokens=4096,
    max_instances=None,
    steps=4,
    warm_up=2,
)


@pytest.fixture
def small_corpus(monkeypatch):
    monkeypatch.setattr("olmix.preflight.measure.CORPUS_TOKENS", 20_000)
    monkeypatch.setattr("olmix.preflight.measure.INSTANCES", 20)


def test_one_process_is_measured(small_corpus, tmp_path):
    found = measure(ASKED, Place(tmp_path, Processes(torch.device("cpu"))))
    json.dumps(found, allow_nan=False)
    assert found["of"] == ["tiny-30m", 64, 8, 1, 1]
    assert (found["device"], found["backend"], found["precision"]) == ("cpu", None, "float32")
    assert found["sharding"] == "none"
    # It is the CPU that it is compared with.
    assert found["differences"]["float32"] == 0
    assert 0 < found["differences"]["bfloat16"] < TOLERANCE["bfloat16"]
    assert found["tokens_per_second"] == pytest.approx(64 * 8 / found["step_seconds"])
    assert found["evaluation"]["minutes"] is None
    # Weights and two moments of the stand-in's model.
    parameters = 2 * 64 * 32 + 4 * 32 * 32 + 3 * 32 * 96 + 5 * 32
    assert found["checkpoint"]["bytes"] == pytest.approx(12 * parameters, rel=0.1)
    assert found["reading"]["bytes_per_second"] > 0


def test_the_stand_in_corpus_is_the_same_for_the_same_numbers(tmp_path):
    one, two = (counting_corpus(tmp_path / name, 100, 10_000) for name in ("one", "two"))
    assert one.token_counts == {"counting": 10_000}
    assert one["counting"].manifest == two["counting"].manifest
    forget_cached(one.root)
    assert Corpus.open(one.root)["counting"].tokens == 10_000


def test_the_stand_in_suite_has_all_its_golds_scored():
    instances = random_instances(50, 30)
    batches = lay_out(instances, 256, 2048)
    assert sum(batch.targets.size for batch in batches) == sum(g.size for g in instances.golds)


@pytest.mark.slow
def test_two_nodes_of_two_processes_are_measured_with_every_sharding(tmp_path, olmix_processes):
    asked = dataclasses.replace(ASKED, model=ASKED.model | {"gpu": 4, "nodes": 2})
    (tmp_path / "asked.json").write_text(json.dumps(dataclasses.asdict(asked)))
    olmix_processes(
        4,
        ["preflight", "--asked", str(tmp_path / "asked.json"), "--work", str(tmp_path / "work"),
         "--out", str(tmp_path / "found.json")],
        on_node=2,
    )  # fmt: skip
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["backend"] == "gloo"
    assert set(found["shardings"]) == set(SHARDINGS)
    assert found["shardings"][found["sharding"]] == min(found["shardings"].values())
    for precision, difference in found["differences"].items():
        assert difference < TOLERANCE[precision]
