"""The uniform distribution: every domain alike."""

import numpy as np

from olmix.systems.kinds.fixed import Fixed

__all__ = ["Uniform"]


class Uniform(Fixed):
    """The uniform mix: equal weights."""

    def mix(self, tokens: np.ndarray, requested: float) -> np.ndarray:
        """The weight 1/m for each of m domains."""
        return np.full(len(tokens), 1 / len(tokens))


ALGORITHM = Uniform
