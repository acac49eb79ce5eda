"""Runs that an algorithm steers: what it is told, what it changes, resumption, refusals."""

import dataclasses

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from olmix.__main__ import main
from olmix.corpus.store import Corpus, StoreWriter
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.model.transformer import Transformer
from olmix.model.weights import load_model
from olmix.systems.doge import DoGE
from olmix.systems.doremi import DoReMi
from olmix.systems.odm import ODM
from olmix.training.checkpoint import CheckpointFolder
from olmix.training.optimizer import Optimizer
from olmix.training.run_data import run_data
from olmix.training.settings import Hardware, RunSettings, SteeringSettings, data_fingerprint
from olmix.training.trainer import train_run

GRAPH = [[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]
MIXES = {
    "odm": {"updates": 8},
    "ado": {"updates": 8},
    "skill_it": {"graph": GRAPH, "updates": 4, "held_out": 3},
    "aioli": {"rounds": 2, "held_out": 3},
}


class Killed(Exception):  # noqa: N818  (not an error)
    """Stands for a kill at a chosen moment."""


@pytest.fixture(scope="module")
def reference(corpus, settings, tmp_path_factory):
    """A finished run to compare with."""
    folder = tmp_path_factory.mktemp("reference")
    train_run(settings, corpus, folder / "run", folder / "state")
    return folder / "run"


def steer(settings: RunSettings, name: str, reference=None) -> RunSettings:
    compared = read_json(reference / "run.json")["hash"] if name == "doremi" else None
    return dataclasses.replace(
        settings, steering=SteeringSettings(name, MIXES.get(name, {}), compared)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MIXES, "doremi", "doge"])
def test_a_killed_run_ends_with_the_same_bytes(
    corpus, settings, reference, tmp_path, monkeypatch, name
):
    settings = steer(settings, name, reference)
    state = tmp_path / "state"
    whole = train_run(settings, corpus, tmp_path / "whole", state, reference=reference)
    saved = CheckpointFolder.save
    for step in (3, 10, 27):

        def save(self, checkpoint, step=step):
            saved(self, checkpoint)
            if checkpoint.step >= step:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(CheckpointFolder, "save", save)
            with pytest.raises(Killed):
                train_run(
                    *(settings, corpus, tmp_path / "run", state),
                    hardware=Hardware(checkpoint_steps=1),
                    reference=reference,
                )
    record = train_run(settings, corpus, tmp_path / "run", state, reference=reference)
    one = load_file(tmp_path / "whole" / "weights.safetensors")
    other = load_file(tmp_path / "run" / "weights.safetensors")
    assert all(torch.equal(one[key], other[key]) for key in one)
    for key in ("schedule", "seen", "losses", "answer"):
        assert record.get(key) == whole.get(key)


@pytest.mark.parametrize("name", MIXES)
def test_a_moved_mix_is_in_the_record(corpus, settings, tmp_path, name):
    record = train_run(steer(settings, name), corpus, tmp_path / "run", tmp_path / "state")
    mixes = [tuple(entry["mix"].values()) for entry in record["schedule"]]
    assert len(set(mixes)) > 2
    assert record["schedule"][-1]["until_token"] == settings.tokens
    assert sum(record["seen"]["tokens"].values()) == settings.tokens
    for domain, tokens in record["seen"]["tokens"].items():
        asked = record["mix"]["requested"][domain] * settings.tokens
        assert abs(tokens - asked) < settings.sequence_length


def test_an_algorithm_that_always_says_the_same_changes_nothing(
    corpus, settings, tmp_path, monkeypatch
):
    """The steered path is the plain one: the same data, and the same weights up to rounding."""
    monkeypatch.setattr(ODM, "next_mix", lambda self, seen: self.first)
    plain = train_run(
        dataclasses.replace(settings, schedule=tuple((n / 8, settings.mix) for n in range(1, 8))),
        *(corpus, tmp_path / "plain", tmp_path / "state"),
    )
    same = train_run(steer(settings, "odm"), corpus, tmp_path / "odm", tmp_path / "state")
    assert same["seen"] == plain["seen"]
    one = load_file(tmp_path / "plain" / "weights.safetensors")
    other = load_file(tmp_path / "odm" / "weights.safetensors")
    for key, tensor in one.items():
        torch.testing.assert_close(other[key], tensor, rtol=1e-3, atol=1e-4)


def test_the_bandit_is_told_the_losses_of_each_domains_tokens(corpus, settings, tmp_path):
    """The rewards after the first stretch are 0.1·exp(loss), the loss measured here by hand."""
    told = []
    original = ODM.next_mix

    def next_mix(self, seen):
        told.append(seen)
        return original(self, seen)

    settings = steer(dataclasses.replace(settings, learning_rate=1e-12), "odm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ODM, "next_mix", next_mix)
        train_run(settings, corpus, tmp_path / "run", tmp_path / "state")
    data, model = run_data(settings, corpus), Transformer(settings.model, init=settings.init)
    losses = {domain: [] for domain in data.domains}
    with torch.no_grad():
        for step in range(5):
            ids = torch.from_numpy(data.batch(step, 4))
            logits = model(ids[:, :-1]).transpose(1, 2)
            found = torch.nn.functional.cross_entropy(logits, ids[:, 1:], reduction="none")
            for number, domain in enumerate(data.domains):
                losses[domain] += found[
                    torch.from_numpy(data.batch_domains(step, 4)[:, 1:] == number)
                ].tolist()
    assert len(told) == 7
    assert told[0].losses == pytest.approx([np.mean(losses[d]) for d in data.domains], rel=1e-4)
    assert told[0].tokens.sum() == 5 * 64


def two_domains(corpus, settings) -> RunSettings:
    mix = {"code": 0.5, "math": 0.5}
    return dataclasses.replace(settings, mix=mix, corpus=data_fingerprint(corpus, mix))


def domain_means(model, ids, numbers):
    """The mean losses of the tokens of each of two domains, with gradients; None for no tokens."""
    logits = model(ids[:, :-1]).transpose(1, 2)
    losses = torch.nn.functional.cross_entropy(logits, ids[:, 1:], reduction="none")
    return [losses[numbers == number] for number in (0, 1)]


def by_hand(corpus, settings, steps, gradient_of):
    """Train with plain autograd: ``gradient_of(model, ids, domains)`` fills the gradients."""
    data = run_data(settings, corpus)
    model = Transformer(settings.model, init=settings.init)
    optimizer = Optimizer(model, settings)
    for step in range(steps):
        ids = torch.from_numpy(data.batch(step, 4))
        numbers = torch.from_numpy(data.batch_domains(step, 4)[:, 1:])
        gradient_of(model, optimizer, ids, numbers, step)
        optimizer.step(step)


def weighted_mean(means, weights):
    present = [number for number, part in enumerate(means) if len(part)]
    total = sum(weights[number] for number in present)
    return sum(weights[number] / total * means[number].mean() for number in present)


def test_doremi_on_two_domains_by_hand(corpus, settings, reference, tmp_path):
    """Excess over the reference, α after every step, and the answer, with nothing of ours."""
    settings = steer(
        dataclasses.replace(two_domains(corpus, settings), z_loss=0.0), "doremi", reference
    )
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "state", reference=reference)
    usual = load_model(reference / "weights.safetensors")
    logs, excess, answers = np.log([0.5, 0.5]), np.zeros(2), []

    def step_by_hand(model, optimizer, ids, numbers, step):
        nonlocal logs
        means = domain_means(model, ids, numbers)
        weighted_mean(means, np.exp(logs)).backward()
        with torch.no_grad():
            theirs = domain_means(usual, ids, numbers)
            for number, (mine, other) in enumerate(zip(means, theirs, strict=True)):
                if len(mine):
                    excess[number] = (mine - other).clamp(min=0).mean().item()
        alpha = np.exp(logs + excess)
        alpha = (1 - 1e-4) * alpha / alpha.sum() + 1e-4 / 2
        logs = np.log(alpha)
        answers.append(alpha)

    by_hand(corpus, settings, settings.steps, step_by_hand)
    expected = dict(zip(("code", "math"), np.mean(answers, axis=0), strict=True))
    assert record["answer"] == {d: pytest.approx(w, abs=1e-3) for d, w in expected.items()}
    assert abs(expected["code"] - 0.5) > 0.01


def test_doge_on_two_domains_by_hand(corpus, settings, tmp_path):
    """Inner products of plain gradients, α before every step, and the answer."""
    settings = steer(dataclasses.replace(two_domains(corpus, settings), z_loss=0.0), "doge")
    record = train_run(settings, corpus, tmp_path / "run", tmp_path / "state")
    logs, answers = np.log([0.5, 0.5]), []

    def step_by_hand(model, optimizer, ids, numbers, step):
        nonlocal logs
        own = {}
        for number, part in enumerate(domain_means(model, ids, numbers)):
            if len(part):
                part.mean().backward(retain_graph=True)
                own[number] = optimizer.parameters[0].grad.double().clone()
                optimizer.parameters[0].grad.zero_()
        total = sum(own.values())
        mean = np.mean([gradient.norm().item() for gradient in own.values()])
        warm = min(1.0, (step + 1) / 4)
        cosine = 0.1 + 0.45 * (1 + np.cos(np.pi * (step - 3) / 36)) if step >= 4 else 1
        rate = 5e-4 * warm * cosine
        for number, gradient in own.items():
            score = rate * (gradient @ total).item() / mean
            logs[number] += min(max(score, 0), 5 * rate) / 0.01
        logs = logs - np.log(np.exp(logs).sum())
        answers.append(np.exp(logs))
        weighted_mean(domain_means(model, ids, numbers), np.exp(logs)).backward()

    by_hand(corpus, settings, settings.steps, step_by_hand)
    expected = dict(zip(("code", "math"), np.mean(answers, axis=0), strict=True))
    assert record["answer"] == {d: pytest.approx(w, abs=1e-3) for d, w in expected.items()}
    assert abs(expected["code"] - 0.5) > 0.001


def test_a_moved_mix_keeps_to_the_runs_repetition(corpus, settings, tmp_path, monkeypatch):
    """An algorithm that wants one domain only gets as much of it as the run allows."""
    monkeypatch.setattr(ODM, "next_mix", lambda self, seen: np.array([1.0, 0.0, 0.0]))
    limited = dataclasses.replace(settings, max_repetition=0.12)
    record = train_run(steer(limited, "odm"), corpus, tmp_path / "run", tmp_path / "state")
    assert 0.115 < record["seen"]["epochs"]["code"] <= 0.12
    assert sum(record["seen"]["tokens"].values()) == settings.tokens


def test_weights_of_more_than_one_run_are_never_confused(corpus, settings, reference, tmp_path):
    wrong = dataclasses.replace(settings, steering=SteeringSettings("doremi", {}, "another"))
    with pytest.raises(OlmixError, match=r"holds the run .*, the reference is another"):
        train_run(wrong, corpus, tmp_path / "run", tmp_path / "state", reference=reference)
    with pytest.raises(OlmixError, match="the folder of the reference run another was not given"):
        train_run(wrong, corpus, tmp_path / "run", tmp_path / "state")
    without = dataclasses.replace(settings, steering=SteeringSettings("doremi"))
    with pytest.raises(OlmixError, match="algorithm 'doremi' needs a reference run"):
        train_run(without, corpus, tmp_path / "run", tmp_path / "state")


def test_a_domain_too_small_to_hold_anything_out_is_refused(corpus, settings, tmp_path):
    for domain, tokens in (("large", 2000), ("small", 10)):
        with StoreWriter(tmp_path / domain, domain=domain, tokenizer=corpus.tokenizer) as writer:
            writer.add(np.arange(tokens) % 31 + 1, bytes=tokens)
    own, mix = Corpus.open(tmp_path), {"large": 0.9, "small": 0.1}
    steering = SteeringSettings("aioli", {"rounds": 2, "held_out": 3})
    small = dataclasses.replace(
        settings, mix=mix, corpus=data_fingerprint(own, mix), steering=steering, max_repetition=1e6
    )
    with pytest.raises(OlmixError, match="'small' has no whole sequence to hold out"):
        train_run(small, own, tmp_path / "run", tmp_path / "state")


def test_from_the_command_line(corpus, tmp_path, capsys):
    common = ["train", "--corpus", str(corpus.root), "--shape", "tiny-1m"]
    common += ["--tokens", "2000", "--sequence-length", "16", "--batch-size", "4"]
    steered = ["--steer", "odm", "--steer-setting", "updates=4"]
    assert main([*common, "--out", str(tmp_path / "odm"), *steered]) == 0
    assert len(read_json(tmp_path / "odm" / "run.json")["schedule"]) == 4
    assert main([*common, "--out", str(tmp_path / "one")]) == 0
    compared = ["--steer", "doremi", "--reference", str(tmp_path / "one")]
    assert main([*common, "--out", str(tmp_path / "two"), *compared]) == 0
    assert sum(read_json(tmp_path / "two" / "run.json")["answer"].values()) == pytest.approx(1)
    capsys.readouterr()
    for options, message in [
        (["--steer", "magic"], "no algorithm 'magic'"),
        (["--steer", "odm", "--steer-setting", "updates"], "expected KEY=VALUE, as JSON"),
        (["--steer-setting", "updates=3"], "need --steer"),
        (["--steer", "odm", "--change", "0.5=natural"], "a schedule and steering"),
    ]:
        assert main([*common, "--out", str(tmp_path / "bad"), *options]) == 2
        assert message in capsys.readouterr().err


def test_the_answers_of_doremi_and_doge_start_even():
    for algorithm in (DoReMi(np.full(4, 0.25), 3), DoGE(np.full(4, 0.25), 3)):
        assert algorithm.answer.tolist() == [0.25] * 4
