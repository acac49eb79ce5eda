"""Mixing methods as data: a file of ``config/methods/`` each, with the seven design choices.

A method runs through the same rules as every question, at its own swarm size, on the same topics.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.config_files import check_keys, check_name, read_config
from olmix.errors import OlmixError
from olmix.study.questions import FAMILY_SOLVERS, TARGET, TOPICS
from olmix.study.scale import Scale
from olmix.study.spec import MixesSpec, Plan, ProposalSpec

__all__ = ["MixingMethod", "load_methods", "plan_methods"]

_CHOICES = {
    "swarm_distribution": (
        "sparse", "dense", "exponential_grid", "one_at_a_time", "entropy_weighted",
    ),
    "regression_family": tuple(FAMILY_SOLVERS),
    "granularity": ("task", "family", "aggregated"),
    "repetition_constraint": (True, False),
    "solver": ("exact", "exact_kl", "search"),
}  # fmt: skip
_KEYS = ("label", "proxy_size", "swarm_size", *_CHOICES)
# The families whose prediction is convex, which an exact solver needs.
_CONVEX = ("log_linear", "bimix", "autoscale")


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
        """K for m domains."""
        return round(self.runs_per_domain * domains) + self.runs_besides


def load_methods(folder: str | Path) -> tuple[MixingMethod, ...]:
    """Every method of a folder, by name; a key or value nobody knows is refused."""
    files = sorted(Path(folder).glob("*.yaml"))
    if not files:
        raise OlmixError(f"{folder}: no methods, expected files like olmix_base.yaml")
    return tuple(_load_method(path) for path in files)


def _load_method(path: Path) -> MixingMethod:
    check_name(path.stem, str(path))
    content = read_config(path)
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
    if content["solver"] != "search" and content["regression_family"] not in _CONVEX:
        raise OlmixError(
            f"{path}: solver '{content['solver']}' needs a convex family ({', '.join(_CONVEX)}), "
            f"'{content['regression_family']}' takes search"
        )
    per_domain, plus = _swarm_size(content["swarm_size"], path)
    choices = {key: content[key] for key in _KEYS if key != "swarm_size"}
    return MixingMethod(path.stem, runs_per_domain=per_domain, runs_besides=plus, **choices)


def _swarm_size(value: Any, path: Path) -> tuple[float, int]:
    """per_domain and plus of ``swarm_size``."""
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


def plan_methods(plan: Plan, scale: Scale, methods: Iterable[MixingMethod], domains: int) -> None:
    """Add each method's swarm, proposal and target run, and the natural mix beside them."""
    largest = scale["methods"]["largest_swarm"]
    proposals = []
    for method in methods:
        runs = method.swarm_size(domains)
        if largest is not None:
            runs = min(runs, largest)
        swarm = plan.sample(
            MixesSpec(f"method-{method.name}", TOPICS, runs, kind=method.swarm_distribution),
            method.proxy_size,
        )
        proposals.append(
            ProposalSpec(
                method.name,
                swarm,
                regressor=method.regression_family,
                granularity=method.granularity,
                proposer="search" if method.solver == "search" else "exact",
                kl=scale["kl"] if method.solver == "exact_kl" else 0.0,
                repetition=scale["repetition"] if method.repetition_constraint else None,
            )
        )
    plan.propose("methods", proposals)
    natural = plan.sample(MixesSpec("natural-topics", TOPICS, 1, kind="natural"), TARGET)
    repeats = scale["target_repeats"]
    targets = plan.train_proposals("methods", TARGET, "methods-target", repeats=repeats)
    plan.question("methods", studies=["methods"], swarms=[natural, *targets])
