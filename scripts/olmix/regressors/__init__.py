"""The regression families by name, and what is true of each without fitting anything (RQ4)."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from olmix.errors import OlmixError

if TYPE_CHECKING:
    from olmix.regressors.base import Regressor

__all__ = ["FAMILIES", "Family", "make_regressor", "regressor_from_dict"]


@dataclass(frozen=True)
class Family:
    """What planning and figures know of a regression family; its class does the fitting.

    Parameters
    ----------
    name, path
        What it is called in files, and where its class is. Classes are imported when they are
        asked for: LightGBM and scikit-learn are slow to import.
    label, colour, marker
        How it is written and drawn in every figure.
    solver
        The solver the paper settles on for it (App. RQ4): a name of `olmix.proposers.SOLVERS`, or
        ``exact_kl`` with the scale's KL term.
    convex
        Whether its prediction is convex in the mix, which the exact solver needs.
    linear
        Whether it has m+1 unknowns per task, which fewer runs leave undetermined.
    ours
        Whether it is not one of the paper's: RQ4 then fits and marks it, and claims leave it out.
    """

    name: str
    path: str
    label: str
    colour: str
    marker: str
    solver: str
    convex: bool = False
    linear: bool = False
    ours: bool = False


#: Every family by name, in the order of figures and tables. A new one is its class and its entry.
FAMILIES = {
    family.name: family
    for family in (
        Family(
            "log_linear",
            "olmix.regressors.log_linear.LogLinear",
            label="log-linear",
            colour="#0072B2",
            marker="o",
            solver="exact_kl",
            convex=True,
            linear=True,
        ),
        Family(
            "bimix",
            "olmix.regressors.bimix.BiMix",
            label="BiMix",
            colour="#E69F00",
            marker="s",
            solver="search",
            convex=True,
        ),
        Family(
            "autoscale",
            "olmix.regressors.autoscale.AutoScale",
            label="AutoScale",
            colour="#009E73",
            marker="D",
            solver="exact",
            convex=True,
        ),
        Family(
            "lightgbm",
            "olmix.regressors.lightgbm.LightGBM",
            label="LightGBM",
            colour="#D55E00",
            marker="^",
            solver="search",
        ),
        Family(
            "gaussian_process",
            "olmix.regressors.gaussian_process.GaussianProcess",
            label="Gaussian process",
            colour="#CC79A7",
            marker="v",
            solver="search",
        ),
        Family(
            "diminishing",
            "olmix.regressors.diminishing.Diminishing",
            label="diminishing returns",
            colour="#000000",
            marker="P",
            solver="exact_kl",
            convex=True,
            ours=True,
        ),
        Family(
            "ensemble",
            "olmix.regressors.ensemble.Ensemble",
            label="ensemble",
            colour="#882255",
            marker="*",
            solver="exact_kl",
            convex=True,
            ours=True,
        ),
        Family(
            "search",
            "olmix.regressors.nearest_run.NearestRun",
            label="search",
            colour="#56B4E9",
            marker="X",
            solver="best_run",
        ),
    )
}


def _family(name: str) -> type["Regressor"]:
    if name not in FAMILIES:
        raise OlmixError(f"unknown regression family {name!r}: expected one of {sorted(FAMILIES)}")
    module, _, attribute = FAMILIES[name].path.rpartition(".")
    return getattr(import_module(module), attribute)


def make_regressor(family: str, **settings: Any) -> "Regressor":
    """An unfitted regressor of a family; an unknown setting is refused by name."""
    regressor = _family(family)
    known = regressor().get_params()
    for setting in settings:
        if setting not in known:
            raise OlmixError(
                f"regression family {family!r} has no setting {setting!r}: it has {sorted(known)}"
            )
    return regressor(**settings)


def regressor_from_dict(record: dict[str, Any]) -> "Regressor":
    """A fitted regressor from its JSON form."""
    return _family(record["family"]).from_dict(record)
