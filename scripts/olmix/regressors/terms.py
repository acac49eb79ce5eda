"""The convex form that laws share: per task a weighted sum of c + exp(a + A·p − B·log(1 + p/s)).

Whoever uses a law without knowing its family reads it in this form: the exact proposer, the theory
of reuse, the page of `olmix.presentation.explorer`. With B ≥ 0 every term is convex in the mix.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Term", "above_constants", "log_slopes", "predict_terms", "tangent"]


@dataclass(frozen=True)
class Term:
    """One member law of every task, and its weight in the task's prediction.

    Without ``curved`` the law is log-linear. With it, every domain also lowers the loss above c as
    a power law of its own tokens, (1 + p_j/s_j)^(−B_j): the first tokens of a domain help most.
    """

    family: str
    weight: np.ndarray  # (tasks,), 1 where a law has one member
    constant: np.ndarray  # c, (tasks,)
    intercept: np.ndarray  # a, (tasks,)
    linear: np.ndarray  # A, (tasks, domains)
    curved: np.ndarray | None = None  # B ≥ 0, (tasks, domains)
    shift: np.ndarray | None = None  # s > 0, (domains,)

    def exponent(self, mixes: np.ndarray) -> np.ndarray:
        """The logarithm of what a task's loss is above c: (mixes, tasks)."""
        exponent = self.intercept + mixes @ self.linear.T
        if self.curved is not None:
            exponent = exponent - np.log1p(mixes / self.shift) @ self.curved.T
        return exponent

    def predict(self, mixes: np.ndarray) -> np.ndarray:
        """What this member alone predicts: (mixes, tasks)."""
        return self.constant + np.exp(self.exponent(mixes))

    def slopes(self, mix: np.ndarray) -> np.ndarray:
        """The gradient of `exponent` at one mix: (tasks, domains)."""
        if self.curved is None:
            return self.linear
        return self.linear - self.curved / (self.shift + mix)


def predict_terms(terms: Sequence[Term], mixes: np.ndarray) -> np.ndarray:
    """What the members predict together: (mixes, tasks)."""
    return sum(term.weight * term.predict(mixes) for term in terms)


def log_slopes(terms: Sequence[Term], mix: np.ndarray) -> np.ndarray:
    """The gradient at a mix of the logarithm of each task's loss above its constants.

    For the log-linear law this is its matrix of coefficients A, whatever the mix.
    """
    parts = [term.weight * np.exp(term.exponent(mix[None])[0]) for term in terms]
    slopes = sum(part[:, None] * term.slopes(mix) for part, term in zip(parts, terms, strict=True))
    return slopes / sum(parts)[:, None]


def above_constants(terms: Sequence[Term], mix: np.ndarray) -> np.ndarray:
    """What the loss of each task is above its constants at a mix: (tasks,)."""
    return sum(term.weight * np.exp(term.exponent(mix[None])[0]) for term in terms)


def tangent(terms: Sequence[Term], mix: np.ndarray) -> np.ndarray:
    """The log-linear law that touches a law at a mix: its coefficients A, (tasks, domains).

    exp(A·p) equals the law above its constants at the mix, with the same gradient along the
    simplex, and is nowhere larger: the logarithm of a sum of exponentials of convex functions is
    convex. A log-linear law touches itself, at every mix.
    """
    slopes = log_slopes(terms, mix)
    # The weights of a mix sum to one, so what a law has at every mix is part of every coefficient.
    level = np.log(above_constants(terms, mix)) - slopes @ mix
    return slopes + level[:, None]
