"""DoGE: weigh each domain by how far a step on it is also a step on the targets."""

import numpy as np

from olmix.systems.kinds.steering import MovingWeights

__all__ = ["DoGE"]


class DoGE(MovingWeights):
    """Domain weights from inner products of gradients.

    The score of a domain is the learning rate times the inner product of its gradient with the
    sum of the targets' gradients (here all domains alike), over the mean norm of the domains'
    gradients, clipped to [0, ``clip``·rate]; log α grows by score/``mu``. ``peak_rate`` is the
    rate that ``mu`` was chosen for: the run's own may be many times that, of which only the shape
    of its schedule is taken.
    """

    measures = "gradients"
    passes = 3.0  # the targets' gradient, the domains' ones, the step itself

    def __init__(
        self,
        mix: np.ndarray,
        steps: int,
        *,
        mu: float = 0.01,
        peak_rate: float = 5e-4,
        clip: float = 5.0,
    ) -> None:
        super().__init__(mix, steps)
        self.mu, self.peak_rate, self.clip = mu, peak_rate, clip

    def update(self, products: np.ndarray, norms: np.ndarray, rate: float) -> None:
        """Take inner products and norms (NaN for a domain that the batch has nothing of).

        ``rate`` is the step's learning rate as a share of the run's peak.
        """
        rate = rate * self.peak_rate
        mean = np.nanmean(norms)
        scores = np.clip(rate * products / mean, 0.0, self.clip * rate) if mean else 0 * products
        self._exponentiate(np.nan_to_num(scores) / self.mu)


ALGORITHM = DoGE
