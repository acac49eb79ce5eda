"""Full mixture reuse through the released stages, and the coupling of the first update (§5).

The mix of one stage is what the next one freezes. The chain stops before the first stage whose
swarm is not here: later ones would have nothing to freeze.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.published.catalogue import ReleasedSwarm
from olmix.published.design import request_of
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import Surrogate
from olmix.study.proposals import olmix_base
from olmix.tables import SwarmTable
from olmix.updates.auto_reuse import join_swarms
from olmix.updates.collapse import Collapse
from olmix.updates.reuse import collapse_swarm, propose_with_reuse, recompute
from olmix.updates.sequence import UpdateSequence
from olmix.updates.theory import coupling, coupling_reductions

__all__ = ["ReleasedChain", "coupling_by_topic", "joined_first_update", "run_chain"]


@dataclass(frozen=True)
class ReleasedChain:
    """The proposal of every stage reached, and why the chain stopped there (None: it did not)."""

    proposals: Mapping[str, Proposal]
    stopped: str | None

    @property
    def mix(self) -> Mix | None:
        """The mix of the last stage reached."""
        return list(self.proposals.values())[-1].mix if self.proposals else None


def run_chain(
    sequence: UpdateSequence,
    swarms: Mapping[str, ReleasedSwarm],
    settings: Mapping[str, Any],
) -> ReleasedChain:
    """Walk the stages; ``swarms`` are those present, by stage."""
    proposals: dict[str, Proposal] = {}
    existing: Mix | None = None
    for stage in sequence.stages():
        released = swarms.get(stage.name)
        if existing is None:
            if released is None:
                return ReleasedChain(proposals, f"{stage.name}: its swarm is missing")
            table = released.table
            if set(table.domains) != set(stage.domains.names):
                raise OlmixError(
                    f"stage '{stage.name}': the swarm's {len(table.domains)} domains are not the "
                    f"stage's {len(stage.domains)}"
                )
            proposals[stage.name] = recompute(table, request_of(released, settings), olmix_base())
        else:
            collapse = Collapse(stage.domains, sequence.full_reuse(stage.name), existing)
            if collapse.split.dimension and released is None:
                return ReleasedChain(proposals, f"{stage.name}: its swarm is missing")
            proposals[stage.name] = _reuse(collapse, released, settings)
        existing = proposals[stage.name].mix
    return ReleasedChain(proposals, None)


def _reuse(
    collapse: Collapse, released: ReleasedSwarm | None, settings: Mapping[str, Any]
) -> Proposal:
    """One stage in its collapsed space; nothing is run where nothing is recomputed."""
    limits = {"repetition": settings["repetition"], "requested": settings["requested"]}
    if released is None or not collapse.split.dimension:
        return propose_with_reuse(
            None, collapse, collapse.request(kl=settings["kl"], **limits), olmix_base()
        )
    table = collapse_swarm(released.table, collapse)
    prior = released.prior.aligned(collapse.names)
    request = Request(prior, settings["kl"], collapse.tokens, **limits)
    return propose_with_reuse(table, collapse, request, olmix_base())


def joined_first_update(
    initial: ReleasedSwarm, added: ReleasedSwarm, sequence: UpdateSequence, mix: Mix
) -> SwarmTable:
    """One swarm over DCLM and Stack-Edu: the initial runs, and the first update's expanded.

    The update's runs froze the authors' initial mix, which was not released; ours stands in.
    """
    _, stage, *_ = sequence.stages()
    collapse = Collapse(stage.domains, sequence.full_reuse(stage.name), mix)
    table = collapse_swarm(added.table, collapse)
    expanded = replace(table, domains=stage.domains.names, mixes=table.mixes @ collapse.expansion)
    first = initial.table
    mixes = np.zeros((len(first), len(stage.domains)))
    mixes[:, [stage.domains.names.index(name) for name in first.domains]] = first.mixes
    return join_swarms(replace(first, domains=stage.domains.names, mixes=mixes), expanded)


def coupling_by_topic(
    law: Surrogate, fixed: str = "dclm", added: str = "stack-edu"
) -> tuple[float, pd.DataFrame]:
    """κ of full reuse when a source joins another, and its drop for each reused topic.

    The law may be over more domains; only the two sources' coefficients count.
    """
    model = law.regressor
    if not isinstance(model, LogLinear):
        raise OlmixError(f"coupling needs a log-linear law, got '{model.family}'")
    sources = np.array([name.partition(":")[0] for name in law.domains])
    columns = np.flatnonzero((sources == fixed) | (sources == added))
    coefficients = model.coef_[:, columns]
    mask = sources[columns] == fixed
    before = coupling(coefficients, mask)
    drops = coupling_reductions(coefficients, mask)
    names = [law.domains[column] for column in columns]
    rows = [[name, drop, drop / before] for name, drop in zip(names, drops, strict=True)]
    frame = pd.DataFrame(rows, columns=["domain", "reduction", "share"]).dropna()
    return before, frame.sort_values("reduction", ascending=False, ignore_index=True)
