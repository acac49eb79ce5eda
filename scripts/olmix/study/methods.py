"""Mixing methods as data: a file of ``config/methods/`` each, with the seven design choices.

`olmix_base.yaml` is the one place that says what OlmixBase is; the weight of its KL term and its
repetition factor are the scale's.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.config_files import check_keys, check_name, read_config
from olmix.errors import OlmixError
from olmix.proposers import SOLVERS
from olmix.regressors import FAMILIES
from olmix.study.scale import Scale
from olmix.study.spec import ProposalSpec

__all__ = ["OLMIX_BASE", "OLMIX_ENSEMBLE", "MixingMethod", "load_methods", "solver_choice"]

#: The method that all questions but the comparison of methods are about.
OLMIX_BASE = "olmix_base"
#: The method whose regression fits a user's own swarm.
OLMIX_ENSEMBLE = "olmix_ensemble"
# The exact solver with the scale's KL term.
_EXACT_KL = "exact_kl"

_CHOICES = {
    "swarm_distribution": (
        "sparse", "dense", "tempered", "exponential_grid", "one_at_a_time", "entropy_weighted",
    ),
    "regression_family": tuple(FAMILIES),
    "granularity": ("task", "family", "aggregated"),
    "repetition_constraint": (True, False),
    "solver": ("exact", _EXACT_KL, *(name for name in SOLVERS if name != "exact")),
}  # fmt: skip
_KEYS = ("label", "proxy_size", "swarm_size", *_CHOICES)


@dataclass(frozen=True)
class MixingMethod:
    """The seven choices of one method; `config/methods/olmix_base.yaml` explains them."""

    name: str
    label: str
    proxy_size: str
    runs_per_domain: float
    runs_besides: int
    swarm_distribution: str
    regression_family: str
    granularity: str
    repetition_constraint: bool
    solver: str

    def swarm_size(self, domains: int) -> int:
        """K, the runs of the method's swarm over m domains."""
        return round(self.runs_per_domain * domains) + self.runs_besides

    @property
    def proposer(self) -> str:
        """The method's solver without the KL term: a name of `olmix.proposers.SOLVERS`."""
        return "exact" if self.solver == _EXACT_KL else self.solver

    def proposal(self, name: str, swarm: str, scale: Scale) -> ProposalSpec:
        """What the method proposes on a swarm, by the scale's kl and repetition if it has them."""
        return ProposalSpec(
            name,
            swarm,
            regressor=self.regression_family,
            granularity=self.granularity,
            repetition=scale["repetition"] if self.repetition_constraint else None,
            **solver_choice(self.solver, scale),
        )


def solver_choice(solver: str, scale: Scale) -> dict[str, Any]:
    """Proposer and KL weight of a solver as methods and families name it."""
    if solver == _EXACT_KL:
        return {"proposer": "exact", "kl": scale["kl"]}
    return {"proposer": solver, "kl": 0.0}


def load_methods(folder: str | Path) -> dict[str, MixingMethod]:
    """Every method of a folder that is the seven choices, by name; unknown values are refused.

    Files that name an algorithm are read by `olmix.study.systems`.
    """
    files = sorted(Path(folder).glob("*.yaml"))
    if not files:
        raise OlmixError(f"{folder}: no methods, expected files like olmix_base.yaml")
    found = {path: read_config(path) for path in files}
    return {
        path.stem: _load_method(path, content)
        for path, content in found.items()
        if "algorithm" not in content
    }


def _load_method(path: Path, content: dict[str, Any]) -> MixingMethod:
    check_name(path.stem, str(path))
    check_keys(content, _KEYS, _KEYS, where=str(path))
    for key in ("label", "proxy_size"):
        if not isinstance(content[key], str) or not content[key]:
            raise OlmixError(f"{path}: {key} is {content[key]!r}, expected text")
    for key, allowed in _CHOICES.items():
        # For Python 1 is True, for a reader it is not.
        of_kind = isinstance(content[key], bool) == isinstance(allowed[0], bool)
        if not of_kind or content[key] not in allowed:
            listing = ", ".join(str(value).lower() for value in allowed)
            raise OlmixError(f"{path}: {key} is {content[key]!r}, expected one of {listing}")
    _check_solver(content["solver"], content["regression_family"], path)
    per_domain, plus = _swarm_size(content["swarm_size"], path)
    choices = {key: content[key] for key in _KEYS if key != "swarm_size"}
    return MixingMethod(path.stem, runs_per_domain=per_domain, runs_besides=plus, **choices)


def _check_solver(solver: str, family: str, path: Path) -> None:
    """Refuse a solver that needs a convex family where the family is not."""
    proposer = "exact" if solver == _EXACT_KL else solver
    if SOLVERS[proposer].convex_only and not FAMILIES[family].convex:
        convex = ", ".join(known.name for known in FAMILIES.values() if known.convex)
        raise OlmixError(
            f"{path}: solver '{solver}' needs a convex family ({convex}), '{family}' takes search"
        )


def _swarm_size(value: Any, path: Path) -> tuple[float, int]:
    """The numbers of a method's ``swarm_size``: runs per domain, and runs besides."""
    if not isinstance(value, dict):
        raise OlmixError(f"{path}: swarm_size is {value!r}, expected {{per_domain: .., plus: ..}}")
    keys = ("per_domain", "plus")
    check_keys(value, keys, keys, where=f"{path}: swarm_size")
    for key, kinds in (("per_domain", (int, float)), ("plus", (int,))):
        if type(value[key]) not in kinds or not 0 <= value[key] < 1e6:
            raise OlmixError(f"{path}: swarm_size.{key} is {value[key]!r}, expected 0 or more")
    if value["per_domain"] == value["plus"] == 0:
        raise OlmixError(f"{path}: swarm_size has no runs at all")
    return float(value["per_domain"]), value["plus"]
