"""Two gloo processes against one with the same global batch: the same losses and weights."""

import dataclasses
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from olmix.files import read_json, write_json
from olmix.training.deadline import RESUME_ME
from olmix.training.settings import Hardware, SteeringSettings
from olmix.training.trainer import train_run

pytestmark = pytest.mark.slow

# Two processes add the gradients of two half batches, one process those of one whole batch: the
# sums are rounded in another order and 40 steps of AdamW amplify that.
LOSS_TOLERANCE = 1e-4
WEIGHT_TOLERANCE = 2e-3


def torchrun(
    count: int, arguments: list[str], on_node: int | None = None
) -> subprocess.CompletedProcess:
    """`python -m olmix train` in ``count`` processes, set up as torchrun does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "olmix", "train", *arguments]
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(on_node or count),
    }
    started = [
        subprocess.Popen(
            command,
            env=environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(count)
    ]
    outputs = [process.communicate(timeout=600)[1] for process in started]
    return subprocess.CompletedProcess(command, started[0].returncode, stderr="".join(outputs))


@pytest.fixture(scope="module")
def alone(corpus, settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    record = train_run(settings, corpus, folder / "run", folder / "state", hardware=Hardware())
    return record, load_file(folder / "run" / "weights.safetensors")


@pytest.mark.parametrize("spread", [[], ["--sharding", "all"]], ids=["ddp", "fsdp2"])
@pytest.mark.parametrize("micro", [[], ["--micro-batch", "1"]], ids=["whole", "micro"])
def test_two_processes_equal_one(corpus, settings, alone, tmp_path, spread, micro):
    runs = [{"folder": "run", "corpus": str(corpus.root), "settings": settings.to_dict()}]
    write_json(tmp_path / "runs.json", runs)
    arguments = ["--runs", str(tmp_path / "runs.json"), "--state", str(tmp_path / "state")]
    result = torchrun(2, [*arguments, *spread, *micro])
    assert result.returncode == 0, result.stderr
    assert "UserWarning" not in result.stderr
    record = read_json(tmp_path / "run" / "run.json")
    assert record["provenance"]["processes"] == 2
    assert record["provenance"]["shards"] == (2 if spread else 1)
    for mine, one in zip(record["losses"], alone[0]["losses"], strict=True):
        assert mine["step"] == one["step"]
        assert mine["loss"] == pytest.approx(one["loss"], rel=LOSS_TOLERANCE)
    weights = load_file(tmp_path / "run" / "weights.safetensors")
    for name, tensor in alone[1].items():
        torch.testing.assert_close(weights[name], tensor, rtol=0, atol=WEIGHT_TOLERANCE)


@pytest.mark.parametrize("sharding", ["node", "kept"])
def test_weights_shared_within_nodes_and_copied_across_equal_one(
    corpus, settings, alone, tmp_path, sharding
):
    """Two nodes of two processes, with micro batches and pauses every 7 steps as on GPUs."""
    runs = [{"folder": "run", "corpus": str(corpus.root), "settings": settings.to_dict()}]
    write_json(tmp_path / "runs.json", runs)
    arguments = ["--runs", str(tmp_path / "runs.json"), "--state", str(tmp_path / "state")]
    result = torchrun(4, [*arguments, "--sharding", sharding, "--pause-steps", "7"], on_node=2)
    assert result.returncode == 0, result.stderr
    record = read_json(tmp_path / "run" / "run.json")
    assert (record["provenance"]["processes"], record["provenance"]["shards"]) == (4, 2)
    for mine, one in zip(record["losses"], alone[0]["losses"], strict=True):
        assert mine["loss"] == pytest.approx(one["loss"], rel=LOSS_TOLERANCE)
    weights = load_file(tmp_path / "run" / "weights.safetensors")
    for name, tensor in alone[1].items():
        torch.testing.assert_close(weights[name], tensor, rtol=0, atol=WEIGHT_TOLERANCE)


def test_sharded_bfloat16_rounds_no_more_than_one_process_does(corpus, settings, tmp_path):
    """Positions, residual stream, norms and shares of tokens are not rounded when sharded.

    What is: embeddings and norms' weights, which bfloat16 gathers carry. The first loss is of the
    same weights, so that only rounding differs; later ones drift apart as two roundings do.
    """
    runs = [{"folder": "run", "corpus": str(corpus.root), "settings": settings.to_dict()}]
    losses = {}
    for count in (1, 2):
        folder = tmp_path / str(count)
        folder.mkdir()
        write_json(folder / "runs.json", runs)
        arguments = ["--runs", str(folder / "runs.json"), "--state", str(folder / "state")]
        result = torchrun(count, [*arguments, "--precision", "bfloat16", "--sharding", "all"])
        assert result.returncode == 0, result.stderr
        record = read_json(folder / "run" / "run.json")
        losses[count] = [entry["loss"] for entry in record["losses"]]
    assert losses[2][0] == pytest.approx(losses[1][0], rel=1e-3)
    assert losses[2] == pytest.approx(losses[1], rel=2e-2)


@pytest.mark.parametrize("spread", [[], ["--sharding", "all"]], ids=["ddp", "fsdp2"])
def test_processes_stop_and_resume_together(corpus, settings, alone, tmp_path, spread):
    runs = [{"folder": "run", "corpus": str(corpus.root), "settings": settings.to_dict()}]
    write_json(tmp_path / "runs.json", runs)
    arguments = ["--runs", str(tmp_path / "runs.json"), "--state", str(tmp_path / "state")]
    stopped = torchrun(2, [*arguments, *spread, "--time-limit", "0.1"])
    assert stopped.returncode == RESUME_ME, stopped.stderr
    assert list(Path(tmp_path / "state" / settings.hash).glob("step-1.safetensors"))
    # The state belongs to the run, not to the number of processes: one takes over from two.
    result = torchrun(1, arguments)
    assert result.returncode == 0, result.stderr
    record = read_json(tmp_path / "run" / "run.json")
    for mine, one in zip(record["losses"], alone[0]["losses"], strict=True):
        assert mine["loss"] == pytest.approx(one["loss"], rel=LOSS_TOLERANCE)


STEERED = {
    "odm": {"updates": 8},
    "aioli": {"rounds": 2, "held_out": 3},
    "doremi": {},
    "doge": {},
}
CHANGED = "changed"


def steered_job(folder, corpus, settings, reference: Path) -> list[str]:
    """A job of one run per algorithm and one whose mix changes twice, and its arguments."""
    compared = {"doremi": read_json(reference / "run.json")["hash"]}
    asked = {
        name: dataclasses.replace(
            settings, steering=SteeringSettings(name, options, compared.get(name))
        )
        for name, options in STEERED.items()
    }
    changes = ((0.3, {"code": 0.7, "math": 0.3}), (0.8, {"web:news": 1.0}))
    asked[CHANGED] = dataclasses.replace(settings, schedule=changes)
    runs = [
        {
            "folder": name,
            "corpus": str(corpus.root),
            "settings": found.to_dict(),
            "reference": str(reference),
        }
        for name, found in asked.items()
    ]
    write_json(folder / "runs.json", runs)
    return ["--runs", str(folder / "runs.json"), "--state", str(folder / "state")]


@pytest.fixture(scope="module")
def steered_alone(corpus, settings, tmp_path_factory):
    """A shorter run, and those of every algorithm in one process beside it."""
    folder = tmp_path_factory.mktemp("steered")
    settings = dataclasses.replace(settings, tokens=20 * 64)
    train_run(settings, corpus, folder / "reference", folder / "state")
    arguments = steered_job(folder, corpus, settings, folder / "reference")
    assert torchrun(1, arguments).returncode == 0
    return folder, settings


@pytest.mark.parametrize(
    "spread",
    [[], ["--sharding", "all"], ["--sharding", "all", "--micro-batch", "1"]],
    ids=["ddp", "fsdp2", "micro"],
)
def test_algorithms_are_told_the_same_by_two_processes(corpus, steered_alone, tmp_path, spread):
    """They decide the same as in one process, and a run that was stopped ends with its bytes."""
    alone, settings = steered_alone
    jobs = {}
    for name in ("two", "stopped"):
        (tmp_path / name).mkdir()
        jobs[name] = steered_job(tmp_path / name, corpus, settings, alone / "reference")
    assert torchrun(2, [*jobs["two"], *spread]).returncode == 0
    stopped = torchrun(2, [*jobs["stopped"], *spread, "--time-limit", "0.1"])
    assert stopped.returncode == RESUME_ME, stopped.stderr
    assert torchrun(2, [*jobs["stopped"], *spread]).returncode == 0
    for name in (*STEERED, CHANGED):
        one = read_json(alone / name / "run.json")
        two, again = (read_json(tmp_path / job / name / "run.json") for job in jobs)
        for mine, theirs in zip(two["schedule"], one["schedule"], strict=True):
            assert mine["mix"] == {d: pytest.approx(w, abs=2e-3) for d, w in theirs["mix"].items()}
        if "answer" in one:
            expected = {d: pytest.approx(w, abs=2e-3) for d, w in one["answer"].items()}
            assert two["answer"] == expected
        assert again["losses"] == two["losses"]
        assert again["seen"] == two["seen"]
        assert set(two["seen"]) == {"tokens", "epochs"}
        if name == CHANGED:
            assert len(two["schedule"]) == 3
            assert two["seen"] == one["seen"]
        bytes_of = [
            load_file(tmp_path / job / name / "weights.safetensors") for job in ("two", "stopped")
        ]
        assert all(torch.equal(bytes_of[0][key], bytes_of[1][key]) for key in bytes_of[0])
