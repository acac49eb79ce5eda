"""Inner products of the domains' gradients: two gradients are held at a time, never one each."""

import numpy as np
import torch
from torch import Tensor

from olmix.training.optimizer import Optimizer, gradient_of
from olmix.training.passes import Passes

__all__ = ["inner_products"]


def inner_products(
    passes: Passes, optimizer: Optimizer, rows: Tensor, domains: Tensor, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """⟨g_i, Σ_j g_j⟩ and ‖g_i‖ for the gradient g_i of each domain's mean loss in a batch.

    ``rows`` (B, T) and the ``domains`` (B, T − 1) of their predictions are this process's;
    ``counts`` are predictions of each domain in all processes. A domain without any has NaN. The
    sum of all gradients comes from one pass; each domain's own then passes through the optimiser's
    buffer, which is left empty.
    """
    shares = torch.from_numpy(1 / np.maximum(counts, 1)).to(rows.device, torch.float)
    passes.weighted(rows, shares[domains.long()])
    total = [_local(gradient_of(parameter)).clone() for parameter in optimizer.parameters]
    optimizer.clear()
    products, norms = np.full((2, len(counts)), np.nan)
    zero = torch.zeros((), device=rows.device)
    for domain in np.flatnonzero(counts).tolist():
        has = (domains == domain).any(1)
        # As many rows in every process, with weights of zero if it must be: in each pass the
        # processes exchange sharded weights.
        most = passes.team.largest(int(has.sum()))
        mine = has.int().argsort(descending=True, stable=True)[:most]
        weights = shares[domain] * (domains[mine] == domain)
        passes.weighted(rows[mine], weights)
        gradients = [_local(gradient_of(parameter)) for parameter in optimizer.parameters]
        along = [torch.sum(own * all_) for own, all_ in zip(gradients, total, strict=True)]
        squares = [torch.sum(own * own) for own in gradients]
        sums = torch.stack([sum(along, zero), sum(squares, zero)])
        if not optimizer.flat:  # each process holds a part of every gradient
            sums = passes.team.mean(sums) * passes.shards
        products[domain], norms[domain] = sums[0].item(), sums[1].sqrt().item()
        optimizer.clear()
    return products, norms


def _local(tensor: Tensor) -> Tensor:
    """This process's part of a gradient."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
