"""The natural distribution: every domain by how much there is of it."""

import numpy as np

from olmix.systems.kinds.fixed import Fixed

__all__ = ["Natural"]


class Natural(Fixed):
    """The natural mix: token shares."""

    def mix(self, tokens: np.ndarray, requested: float) -> np.ndarray:
        """The share of each domain in all tokens."""
        return tokens / tokens.sum()


ALGORITHM = Natural
