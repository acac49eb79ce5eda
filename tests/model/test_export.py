"""Weights on disk and the export: what is loaded gives the same logits."""

import pytest
import torch

from olmix.__main__ import main
from olmix.errors import OlmixError
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer
from olmix.model.weights import load_model, read_metadata, save_weights

SHAPE = ModelShape("small", 97, 48, 2, 6, 80, 32)


@pytest.fixture
def model() -> Transformer:
    return Transformer(SHAPE, init=Init("fast", seed=4))


@pytest.fixture
def weights(model, tmp_path):
    path = tmp_path / "run" / "weights.safetensors"
    save_weights(path, model.shape, dict(model.named_parameters()), "abc")
    return path


def test_weights_round_trip(model, weights):
    again = load_model(weights)
    ids = torch.arange(20).unsqueeze(0)
    assert again.shape == SHAPE
    assert not again.training
    assert torch.equal(again(ids), model(ids))
    assert read_metadata(weights)["settings_hash"] == "abc"


def test_export_loads_in_transformers(model, weights, tmp_path):
    transformers = pytest.importorskip("transformers")
    out = tmp_path / "exported"
    arguments = ["export", "--weights", str(weights), "--out", str(out), "--end-of-text", "5"]
    assert main(arguments) == 0
    assert sorted(path.name for path in out.iterdir()) == ["config.json", "model.safetensors"]
    other = transformers.Olmo2ForCausalLM.from_pretrained(out)
    assert other.config.eos_token_id == 5
    assert other.config.rope_parameters["rope_theta"] == SHAPE.rope_theta
    ids = torch.arange(60).view(2, 30)
    torch.testing.assert_close(model(ids), other(ids).logits, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("damage", ["missing", "truncated", "foreign"])
def test_bad_weights_are_refused(weights, tmp_path, capsys, damage):
    if damage == "missing":
        weights.unlink()
    elif damage == "truncated":
        weights.write_bytes(weights.read_bytes()[:-100])
    else:
        weights.write_bytes(b"not safetensors at all")
    with pytest.raises(OlmixError, match=r"no such weights file|not a whole safetensors file"):
        load_model(weights)
    assert main(["export", "--weights", str(weights), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_weights_of_another_shape_are_refused(model, tmp_path):
    path = tmp_path / "weights.safetensors"
    tensors = dict(model.named_parameters())
    del tensors["norm.weight"]
    save_weights(path, model.shape, tensors)
    with pytest.raises(OlmixError, match=r"do not fit shape 'small'.*norm.weight"):
        load_model(path)
