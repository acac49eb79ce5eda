"""Algorithms that train nothing: a mix from how much there is of each domain."""

from abc import ABC, abstractmethod

import numpy as np

__all__ = ["Fixed"]


class Fixed(ABC):
    """A mix from the domains' sizes; settings are keyword arguments."""

    @abstractmethod
    def mix(self, tokens: np.ndarray, requested: float) -> np.ndarray:
        """The weights of domains of ``tokens`` tokens each, in a run of ``requested``."""
