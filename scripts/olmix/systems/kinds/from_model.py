"""Algorithms that look into one small model, trained on all domains alike."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from olmix.corpus.stretch import DomainStream
    from olmix.model.transformer import Transformer

__all__ = ["FromModel"]


class FromModel(ABC):
    """A mix from a model's view of each domain; settings are keyword arguments."""

    @abstractmethod
    def mix(self, model: "Transformer", streams: "list[DomainStream]") -> np.ndarray:
        """The weights of the domains that ``streams`` read."""
