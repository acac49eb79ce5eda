"""One run: what it writes, that it resumes to the same bytes, what it refuses."""

import dataclasses
import json
import logging
import threading

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.utils._python_dispatch import TorchDispatchMode

from olmix.corpus.mixing import MixedData
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.model import weights as weights_file
from olmix.model.transformer import Transformer
from olmix.model.weights import load_model
from olmix.training import checkpoint as checkpoint_module
from olmix.training.checkpoint import CheckpointFolder
from olmix.training.deadline import Deadline, RunStopped
from olmix.training.distributed import Processes, whole_model
from olmix.training.optimizer import decays, learning_rate
from olmix.training.settings import Hardware
from olmix.training.trainer import train_run

CPU = torch.device("cpu")


class Killed(Exception):  # noqa: N818  (not an error)
    """Stands for a kill at a chosen moment."""


def die_at(step: int):
    """A progress of a run that ends abruptly when a checkpoint of ``step`` has been written."""
    saved = CheckpointFolder.save

    def save(self, checkpoint):
        saved(self, checkpoint)
        if checkpoint.step >= step:
            raise Killed

    return save


def final_weights(folder):
    return load_file(folder / "weights.safetensors")


def same(one, two) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.fixture(scope="module")
def uninterrupted(corpus, settings, tmp_path_factory):
    """The final weights and record of the run, never stopped."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    record = train_run(settings, corpus, folder / "run", folder / "state")
    return final_weights(folder / "run"), record


def test_a_run_writes_weights_and_record(corpus, settings, tmp_path):
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "state")
    assert read_json(tmp_path / "run" / "run.json") == json.loads(json.dumps(record))
    assert record["hash"] == settings.hash
    assert record["settings"] == settings.to_dict()
    assert record["mix"]["requested"] == settings.mix
    assert sum(record["mix"]["realised"].values()) == pytest.approx(1)
    assert record["losses"][-1]["step"] == settings.steps == 40
    assert record["losses"][-1]["tokens"] == settings.tokens
    assert record["losses"][-1]["loss"] < record["losses"][0]["loss"] - 0.5
    assert record["seconds"] > 0
    assert record["tokens_per_second"] > 0
    assert not (tmp_path / "state" / settings.hash).exists()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "run.json",
        "weights.safetensors",
    ]


def test_the_run_equals_a_plain_training_loop(corpus, settings, uninterrupted):
    model = Transformer(settings.model, init=settings.init)
    groups = [
        {
            "params": [p for name, p in model.named_parameters() if decays(name) == decay],
            "weight_decay": settings.weight_decay if decay else 0.0,
        }
        for decay in (True, False)
    ]
    adam = torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-8)
    data = MixedData(
        corpus, settings.mix, tokens=settings.tokens, sequence_length=16, seed=0, max_repetition=4
    )
    for step in range(settings.steps):
        ids = torch.from_numpy(data.batch(step, 4))
        logits = model(ids[:, :-1]).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, ids[:, 1:].flatten())
        loss = loss + settings.z_loss * logits.logsumexp(-1).square().mean()
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in adam.param_groups:
            group["lr"] = learning_rate(settings, step)
        adam.step()
    weights, record = uninterrupted
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(weights[name], parameter.detach(), rtol=1e-3, atol=1e-4)
    assert record["losses"][-1]["loss"] == pytest.approx(loss.item(), rel=1e-4)


@pytest.mark.parametrize("kills", [[1], [13], [39], [5, 6, 20, 38]])
def test_a_killed_run_ends_with_the_same_bytes(
    corpus, settings, uninterrupted, tmp_path, monkeypatch, kills
):
    hardware = Hardware(checkpoint_steps=1)
    for step in kills:
        with monkeypatch.context() as patch:
            patch.setattr(CheckpointFolder, "save", die_at(step))
            with pytest.raises(Killed):
                train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert same(final_weights(tmp_path / "run"), uninterrupted[0])
    assert record["losses"] == uninterrupted[1]["losses"]


@pytest.mark.parametrize("kills", [[19], [20, 21], [33, 34]])
def test_a_run_killed_about_a_change_of_its_mix_ends_with_the_same_bytes(
    corpus, changed, tmp_path, monkeypatch, kills
):
    change = {"code": 0.7, "math": 0.3}
    settings = changed(schedule=((0.5, change), (0.85, {"web:news": 1.0})))
    whole = train_run(settings, corpus, tmp_path / "whole", tmp_path / "s")
    assert [entry["until_token"] for entry in whole["schedule"]] == [20 * 64, 34 * 64, 40 * 64]
    asked = {"code": 0.3 * 0.5 + 0.7 * 0.35, "math": 0.2 * 0.5 + 0.3 * 0.35}
    asked["web:news"] = 1 - sum(asked.values())
    assert whole["mix"]["requested"] == {name: pytest.approx(asked[name]) for name in asked}
    for name, tokens in whole["seen"]["tokens"].items():
        assert abs(tokens - asked[name] * settings.tokens) < settings.sequence_length
        assert whole["seen"]["epochs"][name] == tokens / corpus[name].tokens
    for step in kills:
        with monkeypatch.context() as patch:
            patch.setattr(CheckpointFolder, "save", die_at(step))
            with pytest.raises(Killed):
                train_run(
                    *(settings, corpus, tmp_path / "run", tmp_path / "s"),
                    hardware=Hardware(checkpoint_steps=1),
                )
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    assert same(final_weights(tmp_path / "run"), final_weights(tmp_path / "whole"))


def test_a_finished_run_is_not_trained_again(corpus, settings, tmp_path, monkeypatch):
    first = train_run(settings, corpus, tmp_path / "run", tmp_path / "state")
    monkeypatch.setattr(MixedData, "batch", None)
    assert train_run(settings, corpus, tmp_path / "run", tmp_path / "state") == json.loads(
        json.dumps(first)
    )


def test_a_changed_setting_never_resumes(corpus, settings, changed, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFolder, "save", die_at(20))
        with pytest.raises(Killed):
            train_run(
                *(settings, corpus, tmp_path / "run", tmp_path / "s"),
                hardware=Hardware(checkpoint_steps=20),
            )
    other = changed(learning_rate=0.02)
    assert other.hash != settings.hash
    train_run(other, corpus, tmp_path / "run", tmp_path / "s")
    train_run(other, corpus, tmp_path / "fresh", tmp_path / "empty")
    assert same(final_weights(tmp_path / "run"), final_weights(tmp_path / "fresh"))
    # And a folder with another run's result is trained anew, not taken for this one's.
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    assert record["hash"] == settings.hash


@pytest.mark.parametrize("damage", ["truncated", "flipped", "missing"])
def test_a_damaged_checkpoint_falls_back(
    corpus, settings, uninterrupted, tmp_path, monkeypatch, caplog, damage
):
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFolder, "save", die_at(20))
        with pytest.raises(Killed):
            train_run(
                *(settings, corpus, tmp_path / "run", tmp_path / "s"),
                hardware=Hardware(checkpoint_steps=10),
            )
    newest = tmp_path / "s" / settings.hash / "step-20.safetensors"
    content = newest.read_bytes()
    if damage == "missing":
        newest.unlink()
    else:
        flipped = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
        newest.write_bytes(content[:-100] if damage == "truncated" else flipped)
    with caplog.at_level(logging.WARNING):
        train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    assert "step-20.safetensors" in caplog.text
    assert "falling back" in caplog.text
    assert same(final_weights(tmp_path / "run"), uninterrupted[0])


def test_only_damaged_checkpoints_are_an_error(corpus, settings, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFolder, "save", die_at(20))
        with pytest.raises(Killed):
            train_run(
                *(settings, corpus, tmp_path / "run", tmp_path / "s"),
                hardware=Hardware(checkpoint_steps=10),
            )
    for path in (tmp_path / "s" / settings.hash).glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(OlmixError, match="all 2 checkpoints are damaged"):
        train_run(settings, corpus, tmp_path / "run", tmp_path / "s")


def test_a_full_disk_keeps_the_last_checkpoint(
    corpus, settings, uninterrupted, tmp_path, monkeypatch
):
    written = checkpoint_module.save_file

    def full_at_20(tensors, path, *rest):
        if len(tensors["losses"]) >= 20:
            path.write_bytes(b"half of it")
            raise OSError(28, "No space left on device")
        written(tensors, path, *rest)

    hardware = Hardware(checkpoint_steps=10)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_module, "save_file", full_at_20)
        with pytest.raises(OlmixError, match=r"step 20 .*No space left.*last good.*step 10"):
            train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert CheckpointFolder(tmp_path / "s", settings.hash).steps() == [10]
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert same(final_weights(tmp_path / "run"), uninterrupted[0])


def test_a_full_disk_at_the_end_keeps_the_work(
    corpus, settings, uninterrupted, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(weights_file, "save_file", full)
        with pytest.raises(OlmixError, match="cannot write the finished run"):
            train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    monkeypatch.setattr(MixedData, "batch", None)
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    assert same(final_weights(tmp_path / "run"), uninterrupted[0])


def test_a_run_stops_before_its_time_limit(corpus, settings, uninterrupted, tmp_path):
    deadline = Deadline()
    team = Processes(CPU, deadline=deadline)
    seen = []

    def evaluate(model):
        deadline.expire()
        seen.append(model)
        return {"average": 1.0}

    interrupted = dataclasses.replace(settings, evaluate_at=(0.5,))
    with pytest.raises(RunStopped, match="step 20 of 40"):
        train_run(interrupted, corpus, tmp_path / "r", tmp_path / "s", evaluate=evaluate, team=team)
    record = train_run(interrupted, corpus, tmp_path / "r", tmp_path / "s", evaluate=evaluate)
    assert len(seen) == 1
    assert record["evaluations"] == [
        {"fraction": 0.5, "step": 20, "tokens": 1280, "result": {"average": 1.0}}
    ]
    assert same(final_weights(tmp_path / "r"), uninterrupted[0])


def test_a_short_limit_leaves_time_to_write(corpus, settings, tmp_path):
    team = Processes(CPU, deadline=Deadline(0.5))
    with pytest.raises(RunStopped):
        train_run(settings, corpus, tmp_path / "run", tmp_path / "s", team=team)
    assert CheckpointFolder(tmp_path / "s", settings.hash).steps() == [1]


def test_evaluations_along_training(corpus, changed, tmp_path):
    probe = torch.arange(16).unsqueeze(0)
    settings = changed(evaluate_at=(0.25, 1.0))
    record = train_run(
        *(settings, corpus, tmp_path / "run", tmp_path / "s"),
        evaluate=lambda model: {"loss": model.loss(probe).item()},
    )
    assert [entry["step"] for entry in record["evaluations"]] == [10, 40]
    model = load_model(tmp_path / "run" / "weights.safetensors")
    assert record["evaluations"][1]["result"]["loss"] == model.loss(probe).item()


def test_micro_batches_give_the_same_run(corpus, settings, uninterrupted, tmp_path):
    hardware = Hardware(micro_batch=1)
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    for name, tensor in final_weights(tmp_path / "run").items():
        torch.testing.assert_close(tensor, uninterrupted[0][name], rtol=1e-3, atol=1e-4)


def test_bfloat16_runs(corpus, settings, uninterrupted, tmp_path):
    hardware = Hardware(precision="bfloat16")
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert record["provenance"]["precision"] == "bfloat16"
    exact = uninterrupted[1]["losses"][-1]["loss"]
    assert record["losses"][-1]["loss"] == pytest.approx(exact, rel=0.05)


def test_nan_stops_the_run(corpus, changed, tmp_path, monkeypatch):
    original = Transformer.loss
    calls = []

    def broken(self, ids, z_loss=0.0):
        calls.append(1)
        loss = original(self, ids, z_loss)
        return loss * float("nan") if len(calls) == 8 else loss

    monkeypatch.setattr(Transformer, "loss", broken)
    with pytest.raises(OlmixError, match="the loss is nan at step 7 of 40"):
        train_run(changed(), corpus, tmp_path / "run", tmp_path / "s")
    assert not (tmp_path / "run").exists()


def test_divergence_stops_the_run(corpus, changed, tmp_path, monkeypatch):
    original = Transformer.loss
    calls = []

    def broken(self, ids, z_loss=0.0):
        calls.append(1)
        return original(self, ids, z_loss) + (20 if len(calls) > 50 else 0)

    monkeypatch.setattr(Transformer, "loss", broken)
    settings = changed(tokens=200 * 64)
    with pytest.raises(OlmixError, match=r"diverged: the loss is 2\d\.\d+ at step 149 of 200"):
        train_run(settings, corpus, tmp_path / "run", tmp_path / "s")


def test_a_second_job_waits_and_finds_the_run_finished(corpus, settings, tmp_path):
    evaluations, records = [], []

    def second_job():
        place = (tmp_path / "run", tmp_path / "s")
        records.append(train_run(watched, corpus, *place, evaluate=evaluate))

    def evaluate(_):
        evaluations.append(1)
        second.start()
        second.join(0.2)
        assert second.is_alive()
        return {"average": 1.0}

    watched = dataclasses.replace(settings, evaluate_at=(0.5,))
    second = threading.Thread(target=second_job)
    first = train_run(watched, corpus, tmp_path / "run", tmp_path / "s", evaluate=evaluate)
    second.join(30)
    assert len(evaluations) == 1
    assert records == [json.loads(json.dumps(first))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer": "1" * 64}, "tokenised by 000000000000, but .* expect the tokenizer 1111"),
        ({"corpus": "something else"}, "are not those the run's settings were made for"),
        ({"evaluate_at": (0.5,)}, "nothing to evaluate with"),
        ({"max_repetition": 0.01}, "would be repeated"),
        ({"batch_size": 5, "tokens": 40 * 5 * 16}, None),
    ],
)
def test_wrong_settings_are_refused(corpus, changed, tmp_path, change, message):
    settings = changed(**change)
    if message is None:
        hardware, message = Hardware(micro_batch=2), "cannot be split evenly"
    else:
        hardware = Hardware()
    with pytest.raises(OlmixError, match=message):
        train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert not (tmp_path / "run").exists()


def test_a_vocabulary_too_large_is_refused(corpus, changed, settings, tmp_path):
    small = dataclasses.replace(settings.model, vocab_size=31)
    with pytest.raises(OlmixError, match=r"vocabulary of 32 does not fit shape 'test'.* has 31"):
        train_run(changed(model=small), corpus, tmp_path / "run", tmp_path / "s")


def test_data_are_read_in_order_once(corpus, settings, tmp_path, monkeypatch):
    read = []
    original = MixedData.batch

    def batch(self, step, batch_size):
        read.append(step)
        return original(self, step, batch_size)

    monkeypatch.setattr(MixedData, "batch", batch)
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s")
    assert np.array_equal(read, np.arange(40))


class Waits(TorchDispatchMode):
    """Counts what makes a host wait for a GPU: reading a number, or a copy to the host."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        self.count += operation is torch.ops.aten._local_scalar_dense.default
        return operation(*arguments, **(keywords or {}))


@pytest.mark.parametrize(("pause", "waits"), [(1, 40), (20, 0)])
def test_nothing_waits_for_a_gpu_between_pauses(
    corpus, settings, uninterrupted, tmp_path, pause, waits
):
    """40 steps read 40 losses one by one, or (as on a GPU) two stacks of 20, with the same run."""
    hardware = Hardware(pause_steps=pause)
    with Waits() as counted:
        record = train_run(settings, corpus, tmp_path / "r", tmp_path / "s", hardware=hardware)
    assert counted.count == waits
    assert record["losses"] == uninterrupted[1]["losses"]
    assert same(final_weights(tmp_path / "r"), uninterrupted[0])


def test_pauses_decide_when_checkpoints_are_taken(corpus, settings, tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(CheckpointFolder, "save", lambda _, checkpoint: taken.append(checkpoint))
    hardware = Hardware(pause_steps=7, checkpoint_steps=10)
    train_run(settings, corpus, tmp_path / "run", tmp_path / "s", hardware=hardware)
    assert [checkpoint.step for checkpoint in taken] == [14, 21, 35]


def test_training_goes_on_while_a_checkpoint_is_written(
    corpus, settings, uninterrupted, tmp_path, monkeypatch
):
    """The checkpoint of step 10 is held back until step 15 is read, and does not change."""
    written, batch, step_15 = CheckpointFolder.save, MixedData.batch, threading.Event()

    def slowly(self, checkpoint):
        before = {name: tensor.clone() for name, tensor in checkpoint.tensors.items()}
        assert step_15.wait(60)
        assert same(before, checkpoint.tensors)
        written(self, checkpoint)

    def noted(self, step, size):
        if step == 15:
            step_15.set()
        return batch(self, step, size)

    monkeypatch.setattr(CheckpointFolder, "save", slowly)
    monkeypatch.setattr(MixedData, "batch", noted)
    hardware = Hardware(checkpoint_steps=10)
    train_run(settings, corpus, tmp_path / "r", tmp_path / "s", hardware=hardware)
    assert same(final_weights(tmp_path / "r"), uninterrupted[0])


@pytest.mark.parametrize("bfloat16", [False, True])
def test_a_compiled_model_is_scored_by_its_plain_copy(settings, bfloat16):
    model = Transformer(settings.model, init=settings.init)
    assert whole_model(model, bfloat16=bfloat16) is model
    ids = torch.arange(16).unsqueeze(0)
    expected = model(ids)
    model.compile_parts()
    copy = whole_model(model, bfloat16=bfloat16)
    assert all(block._compiled_call_impl is None for block in copy.blocks)
    assert all(block._compiled_call_impl is not None for block in model.blocks)
    kinds = {name: p.dtype for name, p in copy.named_parameters()}
    narrow = torch.bfloat16 if bfloat16 else torch.float32
    assert kinds["head.weight"] == kinds["embedding.weight"] == narrow
    assert kinds["norm.weight"] == torch.float32
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        found = copy(ids).float()
    # Logits of about one, rounded to 8 bits on the way.
    torch.testing.assert_close(found, expected, rtol=0, atol=0.05 if bfloat16 else 0)
