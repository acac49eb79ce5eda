"""UniMax: as even as can be, without reading any domain more than a few times. No model at all."""

import numpy as np

from olmix.errors import OlmixError
from olmix.systems.kinds.fixed import Fixed

__all__ = ["UniMax"]


class UniMax(Fixed):
    """Smallest domain first, each gets min(budget left / domains left, ``epochs``·tokens)."""

    def __init__(self, *, epochs: float = 4.0) -> None:
        self.epochs = epochs

    def mix(self, tokens: np.ndarray, requested: float) -> np.ndarray:
        """The share that each domain gets of a budget of ``requested`` tokens."""
        if not tokens.sum() * self.epochs >= requested:
            raise OlmixError(
                f"UniMax: {requested:g} tokens of domains that have {tokens.sum():g}, at most "
                f"{self.epochs:g} times each"
            )
        given, left = np.zeros(len(tokens)), float(requested)
        for place, domain in enumerate(np.argsort(tokens, kind="stable")):
            given[domain] = min(left / (len(tokens) - place), self.epochs * tokens[domain])
            left -= given[domain]
        return given / given.sum()


ALGORITHM = UniMax
