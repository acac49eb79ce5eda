"""The loss by slices against the plain formula: values, gradients, and what it moves in memory."""

import logging
import shutil

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (its usual name)

from olmix.model import logits as sizes
from olmix.model.cross_entropy import LinearCrossEntropy, fused_slice, slice_in_place
from olmix.model.initialisation import Init
from olmix.model.shapes import SHAPES, ModelShape
from olmix.model.transformer import Transformer, predictions_of

TOKENS, WORDS, WIDTH = 23, 61, 12
Z_LOSS = 1e-2
# In float64 the two formulas differ by rounding alone; in float32 by that of sums over 61 words.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5}

both_slices = pytest.mark.parametrize("slice_of", [slice_in_place, fused_slice])
both_dtypes = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])


def random_case(dtype: torch.dtype, seed: int = 0):
    """Hidden states, a matrix, targets, and shares of which a third is zero."""
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(TOKENS, WIDTH, generator=generator, dtype=dtype)
    weight = torch.randn(WORDS, WIDTH, generator=generator, dtype=dtype)
    targets = torch.randint(WORDS, (TOKENS,), generator=generator)
    shares = torch.rand(TOKENS, generator=generator, dtype=dtype)
    shares[::3] = 0
    return hidden.requires_grad_(), weight.requires_grad_(), targets, shares / shares.sum()


def plain(hidden, weight, targets, shares, z_loss):
    """The formula as it is written down."""
    logits = hidden @ weight.T
    each = F.cross_entropy(logits, targets, reduction="none")
    return (shares * (each + z_loss * logits.logsumexp(1).square())).sum(), each


@both_slices
@both_dtypes
@pytest.mark.parametrize("z_loss", [0.0, Z_LOSS])
@pytest.mark.parametrize("rows", [32, 4, 1], ids=["at once", "slices", "single tokens"])
def test_loss_and_gradients_equal_the_plain_formula(monkeypatch, slice_of, dtype, z_loss, rows):
    monkeypatch.setattr(sizes, "BUFFER_BYTES", rows * WORDS * dtype.itemsize)
    hidden, weight, targets, shares = random_case(dtype)
    expected, expected_each = plain(hidden, weight, targets, shares, z_loss)
    expected_gradients = torch.autograd.grad(3 * expected, (hidden, weight))
    loss, each = LinearCrossEntropy.apply(hidden, weight, targets, shares, z_loss, slice_of)
    gradients = torch.autograd.grad(3 * loss, (hidden, weight))
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    torch.testing.assert_close(loss, expected, **close)
    torch.testing.assert_close(each, expected_each, **close)
    assert not each.requires_grad
    for mine, theirs in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(mine, theirs, **close)
    with torch.no_grad():
        again, _ = LinearCrossEntropy.apply(hidden, weight, targets, shares, z_loss, slice_of)
    torch.testing.assert_close(again, loss.detach(), rtol=0, atol=0)


@both_slices
def test_tokens_without_a_share_change_nothing(slice_of):
    hidden, weight, targets, shares = random_case(torch.float64)
    other = targets.clone()
    other[::3] = (other[::3] + 1) % WORDS
    results = []
    for goal in (targets, other):
        loss, _ = LinearCrossEntropy.apply(hidden, weight, goal, shares, Z_LOSS, slice_of)
        results.append((loss, *torch.autograd.grad(loss, (hidden, weight))))
    for one, two in zip(*results, strict=True):
        assert torch.equal(one, two)
    assert not results[0][1][::3].any()


@both_slices
def test_a_matrix_tied_to_the_embedding_gets_both_gradients(slice_of):
    _, weight, targets, shares = random_case(torch.float64)
    ids = torch.arange(TOKENS) % WORDS
    expected, _ = plain(F.embedding(ids, weight).tanh(), weight, targets, shares, Z_LOSS)
    (expected_gradient,) = torch.autograd.grad(expected, weight)
    hidden = F.embedding(ids, weight).tanh()
    loss, _ = LinearCrossEntropy.apply(hidden, weight, targets, shares, Z_LOSS, slice_of)
    (gradient,) = torch.autograd.grad(loss, weight)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-12, atol=1e-12)


@both_slices
def test_bfloat16_gradients_of_the_matrix_are_added_up_in_float32(monkeypatch, slice_of):
    """Each of 512 slices adds less than a bfloat16 sum could still take in."""
    tokens = 512
    monkeypatch.setattr(sizes, "BUFFER_BYTES", WORDS * 2)
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(1, WIDTH, generator=generator).expand(tokens, WIDTH).contiguous()
    weight = torch.randn(WORDS, WIDTH, generator=generator).requires_grad_()
    targets = torch.zeros(tokens, dtype=torch.long)
    shares = torch.full((tokens,), 1 / tokens)
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = LinearCrossEntropy.apply(hidden, weight, targets, shares, 0.0, slice_of)
    (gradient,) = torch.autograd.grad(loss, weight)
    assert gradient.dtype == loss.dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        whole = LinearCrossEntropy.apply(
            *(hidden[:1], weight, targets[:1], torch.ones(1), 0.0, slice_of)
        )[0]
    # All tokens are the same one: their sum is its gradient, as exactly as 512 sums in float32 are.
    (expected,) = torch.autograd.grad(whole, weight)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-6)


def test_sequences_fed_whole_have_the_same_loss():
    model = Transformer(ModelShape("small", 97, 48, 2, 6, 80, 32), init=Init("fast")).double()
    ids = torch.randint(97, (3, 16), generator=torch.Generator().manual_seed(0))
    shares = torch.full((3, 15), 1 / 45, dtype=torch.float64)
    found = []
    for whole in (False, True):
        fed, targets, weights = predictions_of(ids, shares, whole=whole)
        assert fed.shape == targets.shape == weights.shape == (3, 16 if whole else 15)
        states = model.hidden(fed).flatten(0, 1)
        rest = (model.head.weight, targets.flatten(), weights.flatten(), Z_LOSS, fused_slice)
        loss, _ = LinearCrossEntropy.apply(states, *rest)
        found.append((loss, *torch.autograd.grad(loss, list(model.parameters()))))
    torch.testing.assert_close(found[0][0], model.loss(ids, Z_LOSS), rtol=1e-12, atol=0)
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-12)


def test_token_losses_come_one_for_each_prediction():
    model = Transformer(ModelShape("small", 97, 48, 1, 6, 80, 32), init=Init("fast")).double()
    ids = torch.randint(97, (2, 9), generator=torch.Generator().manual_seed(0))
    loss, each = model.token_losses(ids)
    expected = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
    torch.testing.assert_close(each, expected)
    torch.testing.assert_close(loss, expected.mean())
    shares = torch.zeros(2, 8, dtype=torch.float64)
    shares[1, 3] = 1
    torch.testing.assert_close(model.token_losses(ids, 0.0, shares)[0], expected[1, 3])


def test_slices_are_the_largest_powers_of_two_that_fit():
    assert sizes.tokens_at_once(100_352) == 4096
    assert sizes.tokens_at_once(100_352) * 100_352 * 2 <= 2**30 < 2 * 4096 * 100_352 * 2
    assert sizes.tokens_at_once(2**40) == 1


def test_bytes_of_the_loss_written_out():
    shape, step = SHAPES["30m"], 64 * 2048
    # Twelve bytes a logit, and for each of 32 slices twelve a weight of the matrix.
    matrix = 100_352 * 256
    assert sizes.loss_traffic(shape, step) == 12 * 100_352 * step + 32 * 12 * matrix
    assert sizes.loss_memory(shape) == 2 * 100_352 * 4096 + 8 * matrix


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch compiles for a CPU with g++")
def test_compiled_it_equals_the_formula_and_moves_as_many_bytes_as_cost_reckons_with():
    from torch._inductor import metrics
    from torch._inductor.compile_fx import inductor_metrics_log
    from torch._inductor.utils import fresh_cache

    rows, words = 32, 4096
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(rows, words, generator=generator).bfloat16()
    targets = torch.randint(words, (rows, 1), generator=generator)
    shares = torch.full((rows, 1), 1 / rows)
    expected = fused_slice(logits.clone(), targets, shares, Z_LOSS, True)
    before = inductor_metrics_log.level
    inductor_metrics_log.setLevel(logging.INFO)  # else it does not count
    metrics.reset()
    try:
        with fresh_cache():
            compiled = torch.compile(fused_slice, dynamic=False)
            results = compiled(logits, targets, shares, Z_LOSS, True)
    finally:
        inductor_metrics_log.setLevel(before)
        torch.compiler.reset()
    for mine, eager in zip(results, expected, strict=True):
        torch.testing.assert_close(
            mine, eager, rtol=1e-2 if mine is results[2] else 1e-5, atol=1e-9
        )
    assert results[2].data_ptr() == logits.data_ptr()
    moved = metrics.num_bytes_accessed / logits.numel()
    assert moved == pytest.approx(sizes.ELEMENTWISE * sizes.LOGIT_BYTES, rel=0.01)
