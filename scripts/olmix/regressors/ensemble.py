"""Convex laws combined: f_i(p) = Σ_l w_l·f_il(p), weights by cross-validation. Not in the paper.

Laws that fit a swarm about as well disagree away from it. Their weighted sum is convex as they are,
and with weights chosen on runs that the members had not seen it is never much worse than the best
of them, which is a different one on every swarm.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.optimize import nnls

from olmix.errors import OlmixError
from olmix.regressors.base import Regressor
from olmix.regressors.cross_validation import (
    held_out_folds,
    scored_tasks,
    share_of_spread,
    spread,
)
from olmix.regressors.diminishing import Diminishing
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.terms import Term

__all__ = ["Ensemble"]

# What an ensemble can be made of: families whose laws have the form of `olmix.regressors.terms`.
_MEMBERS = {family.family: family for family in (LogLinear, Diminishing)}
# Members lighter than this are left out: they would cost cones and time, and move nothing.
_LEAST_WEIGHT = 0.02
# Few runs say little about weights, and give the log-linear law too much. So many more runs than
# there are speak for the last member, the law with diminishing returns: log-linear is a case of it.
_TRUST = 10


class Ensemble(Regressor):
    """Log-linear and diminishing laws, weighted for the swarm as a whole by stacking.

    Parameters
    ----------
    members
        Families to combine; the last is trusted until the runs say otherwise.

    Attributes
    ----------
    members_ : the fitted regressors; weights_ : (members,), sum to one;
    errors_ : {family: error of unseen runs as a share of their spread}, the ensemble's own too.
    """

    family = "ensemble"
    learned = ("weights_", "errors_")

    def __init__(self, *, members: tuple[str, ...] = ("log_linear", "diminishing")) -> None:
        self.members = members

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        unknown = [name for name in self.members if name not in _MEMBERS]
        if unknown or not self.members:
            raise OlmixError(
                f"ensemble of {list(self.members)}: expected some of {', '.join(_MEMBERS)}"
            )
        tasks, folds = scored_tasks(Y.shape[1], len(X)), held_out_folds(X)
        self.members_ = tuple(_MEMBERS[name]() for name in self.members)
        unseen = [member.fit_and_cross_predict(X, Y, folds, tasks) for member in self.members_]
        self.weights_ = _stack(unseen, Y[:, tasks])
        combined = np.tensordot(self.weights_, unseen, axes=1)
        named = dict(zip((*self.members, self.family), (*unseen, combined), strict=True))
        self.errors_ = {
            name: share_of_spread(predicted, Y[:, tasks]) for name, predicted in named.items()
        }

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.tensordot(self.weights_, [m.predict(X) for m in self.members_], axes=1)

    def refit(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> list["Ensemble"]:
        """Every member refitted on reweighted runs, the weights of the members as they are."""
        columns = [member.refit(X, Y, weights) for member in self.members_]
        return [self._of(members) for members in zip(*columns, strict=True)]

    def _of(self, members: tuple[Any, ...]) -> "Ensemble":
        model = Ensemble(members=self.members)
        model.n_domains_, model.members_ = self.n_domains_, members
        model.weights_, model.errors_ = self.weights_, self.errors_
        return model

    def choices(self) -> tuple[str, ...]:
        """The weight of every law with its error, and what each law chose itself."""
        parts = ", ".join(
            f"{weight:.2f} × {name} ({self.errors_[name]:.3f})"
            for name, weight in zip(self.members, self.weights_, strict=True)
        )
        own = f"law: {parts}; together {self.errors_[self.family]:.3f} (error of unseen runs)"
        return (own, *(line for member in self.members_ for line in member.choices()))

    def unseen_error(self) -> float:
        """The error of all members together."""
        return self.errors_[self.family]

    def terms(self) -> tuple[Term, ...]:
        """The members' terms, weighted; members without weight are left out."""
        return tuple(term for term in self.laws() if term.weight.any())

    def laws(self) -> tuple[Term, ...]:
        """The terms of every member, weighted."""
        return tuple(
            replace(term, weight=weight * term.weight)
            for weight, member in zip(self.weights_, self.members_, strict=True)
            for term in member.terms()
        )

    def to_dict(self) -> dict[str, Any]:
        """As every regressor, with the members' own records."""
        return super().to_dict() | {"members": [member.to_dict() for member in self.members_]}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Rebuild an ensemble and its members from `to_dict`."""
        record["settings"]["members"] = tuple(record["settings"]["members"])
        model = super().from_dict(record)
        model.members_ = tuple(
            _MEMBERS[member["family"]].from_dict(member) for member in record["members"]
        )
        return model


def _stack(unseen: list[np.ndarray], measured: np.ndarray) -> np.ndarray:
    """Weights on the simplex that predict unseen runs best, each task in units of its spread.

    The average of the tasks counts as much as all of them, as in `share_of_spread`. To depart from
    the last law costs as if so many more runs had been measured where it says.
    """
    errors = np.column_stack([_errors(values, measured) for values in unseen])
    departures = np.sqrt(_TRUST / len(measured)) * (errors - errors[:, -1:])
    columns = np.vstack([errors, departures])
    # min ‖Σ w_l·error_l‖ with Σw = 1, w ≥ 0: a heavy row asks for the sum.
    heavy = 1e3 * (np.sqrt((columns**2).sum(0).max()) or 1.0)
    weights, _ = nnls(
        np.vstack([columns, np.full(len(unseen), heavy)]), np.r_[np.zeros(len(columns)), heavy]
    )
    weights = np.where(weights < _LEAST_WEIGHT * weights.sum(), 0.0, weights)
    return weights / weights.sum()


def _errors(predicted: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Errors of every run's tasks and of its average, in units of their spread, in one column."""
    averages = measured.mean(1, keepdims=True)
    parts = []
    for errors, values, weight in (
        (predicted - measured, measured, 1.0),
        ((predicted - measured).mean(1, keepdims=True), averages, np.sqrt(measured.shape[1])),
    ):
        parts.append((weight * errors / spread(values)).ravel())
    return np.concatenate(parts)
