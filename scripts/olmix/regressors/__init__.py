"""The six regression families of RQ4, by name."""

from importlib import import_module
from typing import Any

from olmix.errors import OlmixError
from olmix.regressors.base import Regressor

__all__ = ["FAMILIES", "Regressor", "make_regressor", "regressor_from_dict"]

# family -> where its class lives; imported when asked for, as LightGBM and scikit-learn are slow
# to import. A new family is one file and one line here.
FAMILIES = {
    "log_linear": "olmix.regressors.log_linear.LogLinear",
    "bimix": "olmix.regressors.bimix.BiMix",
    "autoscale": "olmix.regressors.autoscale.AutoScale",
    "lightgbm": "olmix.regressors.lightgbm.LightGBM",
    "gaussian_process": "olmix.regressors.gaussian_process.GaussianProcess",
    "search": "olmix.regressors.nearest_run.NearestRun",
}


def _family(name: str) -> type[Regressor]:
    if name not in FAMILIES:
        raise OlmixError(f"unknown regression family {name!r}: expected one of {sorted(FAMILIES)}")
    module, _, attribute = FAMILIES[name].rpartition(".")
    return getattr(import_module(module), attribute)


def make_regressor(family: str, **settings: Any) -> Regressor:
    """An unfitted regressor of a family; an unknown setting is refused by name."""
    regressor = _family(family)
    known = regressor().get_params()
    for setting in settings:
        if setting not in known:
            raise OlmixError(
                f"regression family {family!r} has no setting {setting!r}: it has {sorted(known)}"
            )
    return regressor(**settings)


def regressor_from_dict(record: dict[str, Any]) -> Regressor:
    """A fitted regressor from its JSON form."""
    return _family(record["family"]).from_dict(record)
