"""What every regression family is: fit on a swarm, predict all tasks, live in JSON (§3.3, RQ4)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from olmix.errors import OlmixError
from olmix.regressors import FAMILIES
from olmix.regressors.terms import Term

__all__ = ["Regressor"]


class Regressor(ABC):
    """A map from mixes to the BPB of every task, learned from a swarm.

    Hyper-parameters are the keyword arguments of ``__init__``; what `fit` learns ends in ``_``.
    ``X`` is (runs, domains), ``Y`` is (runs, tasks): all tasks are fitted by one call.
    """

    family: ClassVar[str]
    #: Names of the learned attributes that JSON must hold.
    learned: ClassVar[tuple[str, ...]]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What `fit` learns is another for each family."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The hyper-parameters by name, as scikit-learn asks an estimator for them.

        Not inherited from scikit-learn, which takes a second to import: longer than most jobs work.
        """
        given = signature(type(self)).parameters.values()
        names = sorted(entry.name for entry in given if entry.kind == Parameter.KEYWORD_ONLY)
        return {name: getattr(self, name) for name in names}

    @property
    def convex(self) -> bool:
        """Whether the prediction is convex in the mix, so that the exact solver applies."""
        return FAMILIES[self.family].convex

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

    def fit_and_cross_predict(
        self, X: np.ndarray, Y: np.ndarray, folds: np.ndarray, tasks: np.ndarray
    ) -> np.ndarray:
        """Fit, and return what fits without a fold predict for its runs: (runs, some tasks).

        ``folds`` (folds, runs) says which runs each holds out; ``tasks`` are columns of ``Y``.
        """
        self.fit(X, Y)
        predicted = np.empty((len(X), len(tasks)))
        for unseen in folds:
            model = self._for_trial().fit(X[~unseen], Y[~unseen][:, tasks])
            predicted[unseen] = model.predict(X[unseen])
        return predicted

    def _for_trial(self) -> Self:
        """An unfitted copy that makes this one's choices, where they were made for the swarm."""
        return type(self)(**self.get_params())

    def refit(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> Sequence["Regressor"]:
        """Fits on reweighted runs, one per row of ``weights`` (replicates, runs): whole counts."""
        counts = weights.astype(int)
        return [
            self._for_trial().fit(np.repeat(X, count, axis=0), np.repeat(Y, count, axis=0))
            for count in counts
        ]

    def choices(self) -> tuple[str, ...]:
        """What the fit chose from the data, a sentence each."""
        return ()

    def unseen_error(self) -> float | None:
        """The error about runs left out, 1 being that of their mean; None where none was found."""
        return None

    def terms(self) -> tuple[Term, ...]:
        """The fitted law in the form that convex laws share; empty where it has none."""
        return ()

    def laws(self) -> tuple[Term, ...]:
        """The terms, and those of laws that the fit weighed and gave no weight."""
        return self.terms()

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
            if name not in record["learned"] and hasattr(cls, name):
                continue  # a law written by hand has no choice to record
            value = record["learned"][name]
            numeric = isinstance(value, list) and not any(isinstance(v, str) for v in value)
            setattr(model, name, np.asarray(value, dtype=float) if numeric else value)
        return model
