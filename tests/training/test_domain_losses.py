"""Losses and gradients by domain, against plain autograd."""

import numpy as np
import pytest
import torch

from olmix.model.initialisation import Init
from olmix.model.transformer import Transformer
from olmix.training.deadline import Deadline
from olmix.training.distributed import Processes, synchronised
from olmix.training.domain_gradients import inner_products
from olmix.training.domain_losses import domain_means, domain_sums
from olmix.training.optimizer import Optimizer
from olmix.training.passes import Passes

ALONE = Processes(torch.device("cpu"), deadline=Deadline())


@pytest.fixture
def model(settings):
    return Transformer(settings.model, init=Init("fast", seed=4))


@pytest.fixture
def ids():
    return torch.randint(0, 32, (6, 17), generator=torch.Generator().manual_seed(0))


def plain_losses(model, ids):
    logits = model(ids[:, :-1])
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")


def passes_of(model, micro_batch, z_loss=0.0):
    return Passes(
        synchronised(model, ALONE),
        ALONE,
        micro_batch=micro_batch,
        z_loss=z_loss,
        bfloat16=False,
        shards=1,
    )


def gradient(model):
    flat = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    model.zero_grad()
    return flat


def test_sums_by_domain():
    values = torch.tensor([[1.0, 2.0], [4.0, 8.0]])
    domains = torch.tensor([[0, 2], [2, -1]], dtype=torch.int16)
    sums = domain_sums(values, domains, 3)
    assert sums.tolist() == [[1, 0, 6], [1, 0, 2]]
    np.testing.assert_equal(domain_means(sums), [1, np.nan, 3])


@pytest.mark.parametrize("micro_batch", [6, 4])
def test_weighted_passes_add_up_over_micro_batches(settings, model, ids, micro_batch):
    weights = torch.rand(ids[:, 1:].shape, generator=torch.Generator().manual_seed(1))
    plain = plain_losses(model, ids)
    partition = model(ids[:, :-1]).logsumexp(-1)
    expected = (weights * (plain + 0.01 * partition.square())).sum()
    expected.backward()
    gradients = gradient(model)
    passes = passes_of(model, micro_batch, z_loss=0.01)
    total, losses = passes.weighted(ids, weights)
    assert total.item() == pytest.approx(expected.item(), rel=1e-6)
    torch.testing.assert_close(losses, plain.detach())
    torch.testing.assert_close(gradient(model), gradients, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(passes.losses(ids), losses)


@pytest.mark.parametrize("micro_batch", [6, 2])
def test_inner_products_are_those_of_the_domains_own_gradients(settings, model, ids, micro_batch):
    """Rows of several domains too: gradients of mean losses of tokens, one domain at a time."""
    domains = torch.zeros(ids[:, 1:].shape, dtype=torch.int16)
    domains[2:4], domains[4, 5:], domains[5] = 1, 1, 3
    counts = np.bincount(domains.flatten().numpy(), minlength=5)
    own = []
    for domain in (0, 1, 3):
        plain_losses(model, ids)[domains == domain].mean().backward()
        own.append(gradient(model))
    own = torch.stack(own)
    optimizer = Optimizer(model, settings)
    passes = passes_of(model, micro_batch)
    products, norms = inner_products(passes, optimizer, ids, domains, counts)
    assert np.isnan(products[[2, 4]]).all()
    np.testing.assert_allclose(products[[0, 1, 3]], own @ own.sum(0), rtol=1e-4)
    np.testing.assert_allclose(norms[[0, 1, 3]], own.norm(dim=1), rtol=1e-4)
    assert not optimizer.parameters[0].grad.any()
