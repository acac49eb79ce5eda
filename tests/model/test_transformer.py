"""The transformer against `transformers`' OLMo 2 on copied weights, its loss against torch's."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (its usual name)

from olmix.errors import OlmixError
from olmix.model import transformer
from olmix.model.export import transformers_config, transformers_tensors
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape, shape
from olmix.model.transformer import Transformer

SMALL = ModelShape("small", 97, 48, 3, 6, 80, 32, rope_theta=10_000.0, norm_eps=1e-5)


@pytest.fixture(params=["short", "long"])
def path(request, monkeypatch):
    """Both ways through a layer: the hand-written one for short sequences and the plain one."""
    if request.param == "long":
        monkeypatch.setattr(transformer, "SHORT_SEQUENCE", 0)


def reference(model: Transformer):
    """The same model in `transformers`."""
    library = pytest.importorskip("transformers")
    config = library.Olmo2Config(**transformers_config(model.shape))
    other = library.Olmo2ForCausalLM(config)
    other.load_state_dict(transformers_tensors(model))
    return other


def random_ids(model: Transformer, batch: int, length: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(model.shape.vocab_size, (batch, length), generator=generator)


def with_random_norms(model: Transformer) -> Transformer:
    """Norm weights away from one, so that a misplaced norm shows."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight"):
                parameter.uniform_(0.5, 1.5, generator=generator)
    return model


@pytest.mark.parametrize("chosen", [SMALL, shape("15m", vocab_size=256)], ids=["small", "15m"])
@pytest.mark.usefixtures("path")
def test_logits_and_gradients_equal_transformers(chosen):
    model = with_random_norms(Transformer(chosen, init=Init("fast", seed=3)))
    other = reference(model)
    ids = random_ids(model, 2, 32)
    torch.testing.assert_close(model(ids), other(ids).logits, rtol=1e-4, atol=1e-4)

    model.loss(ids).backward()
    other(ids, labels=ids).loss.backward()
    theirs = {name: p.grad for name, p in other.named_parameters()}
    gradients = Transformer(chosen)
    for mine, parameter in zip(gradients.parameters(), model.parameters(), strict=True):
        mine.data = parameter.grad
    ours = transformers_tensors(gradients)
    assert set(ours) == set(theirs)
    for name, gradient in ours.items():
        scale = theirs[name].abs().max().item()
        assert scale > 0, name
        torch.testing.assert_close(gradient, theirs[name], rtol=1e-4, atol=1e-4 * scale)


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize(("batch", "length"), [(3, 17), (1, 32), (2, 1)])
def test_hand_written_gradients_equal_autograd(monkeypatch, heads, batch, length):
    chosen = dataclasses.replace(SMALL, n_heads=heads)
    model = with_random_norms(Transformer(chosen, init=Init("fast", seed=3))).double()
    ids = random_ids(model, batch, length)
    losses, gradients = [], []
    for longest in (128, 0):
        monkeypatch.setattr(transformer, "SHORT_SEQUENCE", longest)
        losses.append(model(ids).logsumexp(-1).square().mean())
        gradients.append(torch.autograd.grad(losses[-1], list(model.parameters())))
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-12, atol=0)
    for short, plain in zip(*gradients, strict=True):
        torch.testing.assert_close(short, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [16, 200], ids=["short", "long"])
def test_a_layer_hands_on_a_tensor_of_its_own(length):
    """FSDP2 hooks into it, and would lose its hook on a view of another."""
    chosen = ModelShape("views", 32, 16, 1, 2, 32, 256)
    model = Transformer(chosen)
    states = model.blocks[0](torch.randn(2, length, 16), model.rotary[:, :length])
    assert states.requires_grad
    assert states._base is None


@pytest.mark.slow
def test_all_layers_share_one_compiled_form():
    """torch compiles a function eight times at most: a form per layer would leave the rest slow."""
    from torch._dynamo.utils import counters

    model = Transformer(ModelShape("deep", 32, 16, 12, 2, 32, 256))
    for block in model.blocks:
        block.compile(backend="eager")
    torch._dynamo.reset()
    counters.clear()
    try:
        for _ in range(2):
            model.loss(torch.randint(0, 32, (2, 161))).backward()
        assert counters["stats"]["unique_graphs"] == 1
        assert not counters["graph_break"]
    finally:
        torch._dynamo.reset()


def test_bf16_autocast_stays_close():
    model = Transformer(SMALL, init=Init("fast", seed=3))
    ids = random_ids(model, 4, 32)
    exact = model.loss(ids)
    exact.backward()
    exact_gradient = model.blocks[0].mlp.down.weight.grad.clone()
    model.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        rough = model.loss(ids)
    rough.backward()
    assert rough.dtype == torch.float32
    assert rough.item() == pytest.approx(exact.item(), rel=1e-2)
    rough_gradient = model.blocks[0].mlp.down.weight.grad
    cosine = F.cosine_similarity(rough_gradient.flatten(), exact_gradient.flatten(), dim=0)
    assert rough_gradient.dtype == torch.float32
    assert cosine > 0.99


@pytest.mark.usefixtures("path")
def test_a_token_never_sees_the_future():
    model = Transformer(SMALL, init=Init("fast"))
    ids = random_ids(model, 1, 20)
    changed = ids.clone()
    changed[0, 12] = (changed[0, 12] + 1) % SMALL.vocab_size
    before, after = model(ids), model(changed)
    torch.testing.assert_close(before[0, :12], after[0, :12], rtol=0, atol=1e-6)
    assert (before[0, 12:] - after[0, 12:]).abs().max() > 1e-2


def test_initialisation_is_its_own_seed():
    first, same = (Transformer(SMALL, init=Init("fast", seed=5)) for _ in range(2))
    other = Transformer(SMALL, init=Init("fast", seed=6))
    for (name, one), two, three in zip(
        first.named_parameters(), same.parameters(), other.parameters(), strict=True
    ):
        assert torch.equal(one, two)
        assert torch.equal(one, three) == name.endswith("norm.weight")


def test_initial_deviations():
    wide = dataclasses.replace(SMALL, vocab_size=2000, d_model=96)
    fast, normal = Transformer(wide, init=Init("fast")), Transformer(wide, init=Init("normal"))
    assert fast.embedding.weight.std().item() == pytest.approx(1.0, rel=0.02)
    assert fast.head.weight.std().item() == pytest.approx(96**-0.5, rel=0.02)
    assert fast.blocks[0].mlp.down.weight.std().item() == pytest.approx(80**-0.5, rel=0.05)
    for name, parameter in normal.named_parameters():
        if name.endswith("norm.weight"):
            assert bool((parameter == 1).all())
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.05)


def test_parameters_are_counted():
    model = Transformer(SMALL)
    assert sum(p.numel() for p in model.parameters()) == SMALL.parameters


def test_too_long_a_sequence_is_refused():
    model = Transformer(SMALL)
    with pytest.raises(OlmixError, match="33 tokens is longer than the context"):
        model(random_ids(model, 1, 33))


def test_an_unknown_initialisation_is_refused():
    with pytest.raises(OlmixError, match="unknown initialisation 'kaiming'"):
        Init("kaiming")
