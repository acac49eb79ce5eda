"""RQ6 and RQ7 on a released swarm: weights against k, predicted BPB of the solvers, the KL term."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.search import propose_search
from olmix.proposers.sensitivity import SweepPoint, kl_sweep
from olmix.published.catalogue import ReleasedSwarm
from olmix.published.comparison import Findings
from olmix.regressors.surrogate import Surrogate
from olmix.study.proposals import olmix_base

__all__ = [
    "design_findings",
    "request_of",
    "solver_proposals",
    "sweep",
    "trend",
    "weights_by_factor",
]


def request_of(swarm: ReleasedSwarm, settings: Mapping[str, Any]) -> Request:
    """The optimisation problem over a released swarm's domains; uncapped without token counts."""
    if swarm.tokens is None:
        return Request(swarm.prior, settings["kl"], swarm.prior.weights)
    tokens = swarm.tokens.astype(float)
    # A swarm of few tokens cannot serve R: its caps are those of all it has.
    requested = min(settings["requested"], settings["repetition"] * tokens.sum())
    return Request(swarm.prior, settings["kl"], tokens, settings["repetition"], requested)


def weights_by_factor(
    surrogate: Surrogate, swarm: ReleasedSwarm, request: Request, factors: Sequence[float]
) -> pd.DataFrame:
    """RQ6: the proposed weight of every domain for each repetition factor k."""
    rows = []
    for factor in factors:
        asked = replace(request, repetition=float(factor))
        mix = olmix_base().propose(surrogate, swarm.table, asked).mix
        rows += [[factor, domain, weight] for domain, weight in mix.to_dict().items()]
    return pd.DataFrame(rows, columns=["factor", "domain", "weight"])


def solver_proposals(
    surrogate: Surrogate, request: Request, settings: Mapping[str, Any]
) -> dict[str, Proposal]:
    """RQ7: exact, exact with KL terms, and search, for the same model and caps."""

    def exact(kl: float) -> Proposal:
        return propose_exact(surrogate, replace(request, kl=kl))

    found = {"exact": exact(0.0)}
    found |= {f"kl-{kl:g}": exact(kl) for kl in settings["kl"]}
    found["search"] = propose_search(
        surrogate,
        replace(request, kl=0.0),
        seed=settings["seed"],
        rounds=settings["rounds"],
        candidates=settings["candidates"],
    )
    return found


def sweep(surrogate: Surrogate, swarm: ReleasedSwarm, request: Request) -> list[SweepPoint]:
    """The proposal for other weights of the KL term."""
    return kl_sweep(surrogate, request, lambda s, r: olmix_base().propose(s, swarm.table, r))


def trend(values: Sequence[float]) -> str:
    """What a series does: rises, falls, or neither without exception."""
    steps = np.diff(np.asarray(values, dtype=float))
    if (steps >= -1e-9).all():
        return "rises"
    return "falls" if (steps <= 1e-9).all() else "neither"


def design_findings(weights: pd.DataFrame | None, solvers: pd.DataFrame | None) -> Findings:
    """RQ6 and RQ7 in the paper's words."""
    found = Findings()
    if weights is None or solvers is None:
        names = ["rq6_rising", "rq6_falling", "rq7_lowest", "rq7_order"]
        found.lacks(names, "the DCLM swarm is missing")
        return found
    by_domain = weights.pivot(index="domain", columns="factor", values="weight")
    for name, domain in (
        ("rq6_rising", "dclm:software_development"),
        ("rq6_falling", "dclm:literature"),
    ):
        series = by_domain.loc[domain]
        shown = ", ".join(f"k={factor:g}: {weight:.3f}" for factor, weight in series.items())
        found.add(name, trend(series), shown)
    predicted = solvers.set_index("solver")["predicted_bpb"]
    listed = ", ".join(f"{name} {value:.4f}" for name, value in predicted.items())
    found.add("rq7_lowest", predicted.idxmin(), listed)
    found.add("rq7_order", trend([v for name, v in predicted.items() if name != "search"]), listed)
    return found
