"""Chameleon: domains that share their directions with others get more, odd ones less.

It needs the hidden states of one small model and no swarm. A domain that is added later needs its
own embedding only.
"""

from typing import TYPE_CHECKING

import numpy as np

from olmix.systems.kinds.from_model import FromModel

if TYPE_CHECKING:
    from olmix.corpus.stretch import DomainStream
    from olmix.model.transformer import Transformer

__all__ = ["Chameleon", "domain_embeddings", "leverage_scores"]

_AT_ONCE = 64


class Chameleon(FromModel):
    """Pretraining weights: softmax of the inverse ridge leverage of the domains' embeddings.

    ``samples`` sequences make the embedding of a domain.
    """

    def __init__(
        self, *, ridge: float = 10.0, temperature: float = 5.0, samples: int = 2048
    ) -> None:
        self.ridge, self.temperature, self.samples = ridge, temperature, samples

    def mix(self, model: "Transformer", streams: "list[DomainStream]") -> np.ndarray:
        """The weights of the domains as the model sees them."""
        return self.weights(domain_embeddings(model, streams, samples=self.samples))

    def weights(self, embeddings: np.ndarray) -> np.ndarray:
        """Softmax of 1/leverage at the temperature."""
        logs = 1 / leverage_scores(embeddings, self.ridge) / self.temperature
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()


def leverage_scores(embeddings: np.ndarray, ridge: float) -> np.ndarray:
    """Ridge leverage diag(K(K + λkI)⁻¹) of k domains, K their centred linear kernel, sum 1."""
    centred = embeddings - embeddings.mean(0)
    kernel, size = centred @ centred.T, len(embeddings)
    scores = np.diag(np.linalg.solve(kernel + ridge * size * np.eye(size), kernel))
    return scores / scores.sum()


def domain_embeddings(
    model: "Transformer", streams: "list[DomainStream]", *, samples: int
) -> np.ndarray:
    """The mean state after the middle layer over up to ``samples`` sequences of each domain."""
    import torch

    means = []
    for stream in streams:
        rows = torch.from_numpy(stream.last_of_first_epoch(samples))
        total = torch.zeros(model.shape.d_model, dtype=torch.float64)
        with torch.no_grad():
            for part in rows.split(_AT_ONCE):
                states = model.embedding(part.to(model.embedding.weight.device))
                for block in model.blocks[: max(1, len(model.blocks) // 2)]:
                    states = block(states, model.rotary[:, : part.shape[1]])
                total += states.double().sum((0, 1)).cpu()
        means.append((total / rows.numel()).numpy())
    return np.array(means)


ALGORITHM = Chameleon
