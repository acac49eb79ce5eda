"""Mixes from the released swarms beside the paper's columns, each weight with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.uncertainty import Bootstrap, bootstrap
from olmix.published.catalogue import ReleasedSwarm
from olmix.regressors.surrogate import Surrogate
from olmix.study.proposals import olmix_base
from olmix.updates.reuse import recompute

__all__ = ["MixEstimate", "compare_mixes", "estimate", "read_paper_mixes"]

PAPER_COLUMNS = ("natural", "full_recomputation", "partial_mixture_reuse")


def read_paper_mixes(path: str | Path) -> dict[str, Mix]:
    """The paper's columns of final mixes; their six decimals are renormalised."""
    frame = pd.read_csv(path, comment="#")
    if list(frame.columns) != ["domain", *PAPER_COLUMNS]:
        raise OlmixError(f"{path}: columns {list(frame.columns)}, expected domain and the mixes")
    return {
        column: Mix(tuple(frame["domain"]), frame[column] / frame[column].sum())
        for column in PAPER_COLUMNS
    }


@dataclass(frozen=True)
class MixEstimate:
    """A proposal, the law behind it, and the proposals of resampled swarms.

    Over two domains the answer is the best run: there is no law and nothing to resample.
    """

    proposal: Proposal
    surrogate: Surrogate | None
    spread: Bootstrap | None

    def restricted(self, names: Sequence[str]) -> tuple[Mix, np.ndarray | None]:
        """The ratios among some domains, and (low, high) of each over the resampled swarms."""
        mix = self.proposal.mix.restricted(names)
        if self.spread is None:
            return mix, None
        columns = [self.spread.domains.index(name) for name in names]
        weights = self.spread.weights[:, columns]
        weights = weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)
        tail = (1 - self.spread.level) / 2
        return mix, np.quantile(weights, [tail, 1 - tail], axis=0)


def estimate(swarm: ReleasedSwarm, request: Request, settings: Mapping[str, Any]) -> MixEstimate:
    """OlmixBase on a released swarm, and again on resampled runs."""
    table = swarm.table
    if len(table.domains) == 2:
        return MixEstimate(recompute(table, request, olmix_base()), None, None)
    surrogate = olmix_base().fit(table)
    proposal = olmix_base().propose(surrogate, table, request)
    spread = bootstrap(
        table,
        surrogate,
        request,
        proposal,
        lambda fitted, asked: olmix_base().propose(fitted, table, asked),
        baseline=request.prior,
        replicates=settings["replicates"],
        level=settings["level"],
        seed=settings["seed"],
    )
    made = proposal.made_from | {"runs": len(table), "notes": list(table.notes)}
    return MixEstimate(replace(proposal, made_from=made), surrogate, spread)


def compare_mixes(
    name: str, ours: MixEstimate | Mix, paper: Mix, names: Sequence[str]
) -> pd.DataFrame:
    """Domain by domain: our ratio with its interval, the paper's, and whether that lies inside."""
    if isinstance(ours, Mix):
        mix, interval = ours.restricted(names), None
    else:
        mix, interval = ours.restricted(names)
    low, high = (np.full(len(names), np.nan),) * 2 if interval is None else interval
    theirs = paper.restricted(names).weights
    return pd.DataFrame(
        {
            "comparison": name,
            "domain": list(names),
            "ours": mix.weights,
            "low": low,
            "high": high,
            "paper": theirs,
            "difference": mix.weights - theirs,
            # The paper's weights have six decimals: what they round away is not outside.
            "inside": pd.array(
                [None] * len(names)
                if interval is None
                else (theirs >= low - 1e-5) & (theirs <= high + 1e-5),
                dtype="boolean",
            ),
        }
    )
