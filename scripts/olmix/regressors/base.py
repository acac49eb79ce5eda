"""What every regression family is: fit on a swarm, predict all tasks, live in JSON (§3.3, RQ4)."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from olmix.errors import OlmixError

__all__ = ["Regressor"]


class Regressor(BaseEstimator, ABC):
    """A map from mixes to the BPB of every task, learned from a swarm.

    Hyper-parameters are the keyword arguments of ``__init__``; what `fit` learns ends in ``_``.
    ``X`` is (runs, domains), ``Y`` is (runs, tasks): all tasks are fitted by one call.
    """

    family: ClassVar[str]
    #: Names of the learned attributes that JSON must hold.
    learned: ClassVar[tuple[str, ...]]
    #: Whether the prediction is convex in the mix, so that the exact proposer applies.
    convex: ClassVar[bool] = False

    def fit(self, X: np.ndarray, Y: np.ndarray) -> Self:
        """Fit every column of ``Y`` on the mixes ``X``; forgets an earlier fit."""
        X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        if X.ndim != 2 or Y.ndim != 2 or len(X) != len(Y) or len(X) == 0:
            raise OlmixError(
                f"{self.family}: needs X (runs, domains) and Y (runs, tasks) with as many rows, "
                f"got {X.shape} and {Y.shape}"
            )
        for name, values in (("mixes", X), ("metrics", Y)):
            if not np.isfinite(values).all():
                run, column = np.argwhere(~np.isfinite(values))[0]
                value = values[run, column]
                raise OlmixError(
                    f"{self.family}: {name} hold {value} at row {run}, column {column}"
                )
        self.n_domains_ = X.shape[1]
        self._fit(X, Y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """BPB of every task for each mix: (mixes, tasks)."""
        X = np.atleast_2d(np.asarray(X, dtype=float))
        if X.shape[1] != self.n_domains_:
            raise OlmixError(
                f"{self.family}: fitted on {self.n_domains_} domains, asked about {X.shape[1]}"
            )
        return self._predict(X)

    @abstractmethod
    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None: ...

    @abstractmethod
    def _predict(self, X: np.ndarray) -> np.ndarray: ...

    def to_dict(self) -> dict[str, Any]:
        """Everything needed to predict again, as plain JSON values."""
        values = {name: getattr(self, name) for name in self.learned}
        return {
            "family": self.family,
            "settings": self.get_params(),
            "domains": self.n_domains_,
            "learned": {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in values.items()
            },
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Rebuild a fitted regressor from `to_dict`."""
        model = cls(**record["settings"])
        model.n_domains_ = record["domains"]
        for name in cls.learned:
            value = record["learned"][name]
            numeric = isinstance(value, list) and not any(isinstance(v, str) for v in value)
            setattr(model, name, np.asarray(value, dtype=float) if numeric else value)
        return model
