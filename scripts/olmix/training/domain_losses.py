"""Losses of each domain from the losses of tokens."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from olmix.corpus.stretch import DomainStream
    from olmix.model.transformer import Transformer

__all__ = ["domain_means", "domain_sums", "model_losses"]


def domain_sums(values: Tensor, domains: Tensor, count: int) -> Tensor:
    """Sums (2, count) of ``values`` and of ones by the domain of each; float64.

    ``domains`` has the shape of ``values``; a token of domain −1 counts nowhere.
    """
    known = domains >= 0
    numbers = domains[known].long()
    sums = torch.zeros(2, count, dtype=torch.float64, device=values.device)
    sums[0].index_add_(0, numbers, values[known].double())
    sums[1].index_add_(0, numbers, torch.ones_like(numbers, dtype=torch.float64))
    return sums


def domain_means(sums: Tensor) -> np.ndarray:
    """Means by domain from `domain_sums`; NaN for a domain without tokens."""
    total, count = sums.cpu().numpy()
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan)


@torch.no_grad()
def model_losses(
    model: "Transformer", streams: "list[DomainStream]", *, sequences: int
) -> np.ndarray:
    """A model's mean loss on up to so many sequences of each domain, those a run reads last."""
    rows = [torch.from_numpy(stream.last_of_first_epoch(sequences)) for stream in streams]
    return np.array([model.token_losses(part)[1].double().mean().item() for part in rows])
