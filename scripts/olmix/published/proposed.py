"""RQ2 from the authors' own proposed mixes: error against c, judged by laws of the DCLM swarm.

For RQ2 the authors proposed mixes of the m largest topics from swarms of K = c(m+1) runs, and
trained them. The mixes are public, their runs are not: laws fitted on all released runs of the
topics stand in for the runs, so an error is what a law says it is.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from olmix.errors import OlmixError
from olmix.published.catalogue import ReleasedSwarm
from olmix.regressors.surrogate import fit_surrogate

__all__ = ["errors_by_multiplier", "judged"]

_KEYS = ["m", "K", "seed"]
_COLUMNS = ["law", "domains", "multiplier", "runs", "seed", "bpb", "error"]


def judged(swarm: ReleasedSwarm | None, mixes: Path | None, laws: Sequence[str]) -> pd.DataFrame:
    """A row per law and mix: its average BPB, and how far that is from the best found for its m.

    Empty where the swarm or the mixes are missing.
    """
    if swarm is None or mixes is None:
        return pd.DataFrame(columns=_COLUMNS)
    settings, weights = _read(mixes, swarm.table.domains)
    parts = []
    for law in laws:
        bpb = fit_surrogate(swarm.table, family=law).average(weights.to_numpy())
        part = settings.assign(law=law, bpb=bpb, multiplier=settings["K"] / (settings["m"] + 1))
        best = part.groupby("m")["bpb"].transform("min")
        parts.append(part.assign(error=part["bpb"] - best))
    found = pd.concat(parts, ignore_index=True)
    return found.rename(columns={"m": "domains", "K": "runs"})[_COLUMNS]


def errors_by_multiplier(proposals: pd.DataFrame) -> pd.DataFrame:
    """Mean, lowest and highest error over seeds, by law, for each m and c."""
    groups = proposals.groupby(["law", "domains", "multiplier", "runs"], sort=False)["error"]
    return groups.agg(error="mean", lowest="min", highest="max").reset_index()


def _read(path: Path, domains: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What each mix was proposed from, and the mixes with a column per domain, normalised."""
    table = pd.read_csv(path)
    topics = [name.partition(":")[2] or name for name in domains]
    missing = [name for name in (*_KEYS, *topics) if name not in table]
    if missing:
        raise OlmixError(f"{path}: no column '{missing[0]}', expected one per topic of the swarm")
    weights = table[topics].set_axis(list(domains), axis=1)
    return table[_KEYS], weights.div(weights.sum(axis=1), axis=0)
