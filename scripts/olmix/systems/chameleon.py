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

    ``samples`` sequences, of each the first ``length`` tokens, make the embedding of a domain. The
    ridge is of the size that the model's states have: far under it, leverage is the distance from
    the domains' mean, and the domain nearest to that mean gets nearly everything.
    """

    def __init__(
        self,
        *,
        ridge: float = 10.0,
        temperature: float = 5.0,
        samples: int = 2048,
        length: int = 512,
    ) -> None:
        self.ridge, self.temperature = ridge, temperature
        self.samples, self.length = samples, length

    def mix(self, model: "Transformer", streams: "list[DomainStream]") -> np.ndarray:
        """The weights of the domains as the model sees them."""
        embeddings = domain_embeddings(model, streams, samples=self.samples, length=self.length)
        return self.weights(embeddings)

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
    model: "Transformer", streams: "list[DomainStream]", *, samples: int, length: int
) -> np.ndarray:
    """The mean state after the middle layer over up to ``samples`` sequences of each domain."""
    import torch

    # The middle of the embeddings and the states after every layer.
    middle = (len(model.blocks) + 1) // 2
    means = []
    for stream in streams:
        rows = torch.from_numpy(stream.last_of_first_epoch(samples)[:, :length])
        total = torch.zeros(model.shape.d_model, dtype=torch.float64)
        with torch.no_grad():
            for part in rows.split(_AT_ONCE):
                states = model.embedding(part.to(model.embedding.weight.device))
                for block in model.blocks[:middle]:
                    states = block(states, model.rotary[:, : part.shape[1]])
                total += states.double().sum((0, 1)).cpu()
        means.append((total / rows.numel()).numpy())
    return np.array(means)


ALGORITHM = Chameleon
