"""DoReMi: weigh each domain's loss by how far it is above a reference model's."""

import numpy as np

from olmix.systems.kinds.steering import MovingWeights

__all__ = ["DoReMi"]


class DoReMi(MovingWeights):
    """Group distributionally robust optimisation over domains.

    The excess of a domain is the mean over its tokens of max(0, loss − reference's loss); after
    every step log α grows by ``rate`` times it, α is normalised, and mixed with the uniform by
    ``smoothing``.
    """

    measures = "excess"
    passes = 4 / 3  # the reference model's forward pass
    kept = (*MovingWeights.kept, "excess")

    def __init__(
        self, mix: np.ndarray, steps: int, *, rate: float = 1.0, smoothing: float = 1e-4
    ) -> None:
        super().__init__(mix, steps)
        self.rate, self.smoothing = rate, smoothing
        self.excess = np.zeros(len(mix))

    def update(self, excess: np.ndarray) -> None:
        """Take the excess of each domain; one that the batch has nothing of keeps its last."""
        self.excess = np.where(np.isnan(excess), self.excess, excess)
        self._exponentiate(self.rate * self.excess, smoothing=self.smoothing)


ALGORITHM = DoReMi
