"""What auto partial reuse chose to recompute, beside what partial reuse is told to (§4.3, §6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.files import read_json
from olmix.study.chain import Chain

__all__ = ["chosen_by_auto_reuse", "counted"]

_COLUMNS = ["strategy", "c", "requested", "seed", "stage", "named", "chosen", "share_of_kappa"]


def chosen_by_auto_reuse(planned: Mapping[str, Any], choices: Mapping[str, Path]) -> pd.DataFrame:
    """A row per chain that probes and per stage: the domains it chose, and those that are named.

    ``planned`` is what the plan tells the question, ``choices`` the files of choices by group and
    stage. Several domains stand in one cell, first chosen first; ``share_of_kappa`` is what of κ
    all of them took away.
    """
    chains = [Chain(**record) for record, _ in planned["chains"]]
    rows = []
    for name, path in choices.items():
        stage, record = planned["choices"][name], read_json(path)
        for chain in (chain for chain in chains if chain.name in record):
            found = record[chain.name]
            fallen = sum(step["reduction"] for step in found["steps"])
            rows.append(
                {
                    **{key: getattr(chain, key) for key in _COLUMNS[:4]},
                    "stage": stage,
                    "named": " ".join(planned["named"][stage]),
                    "chosen": " ".join(step["domain"] for step in found["steps"]),
                    "share_of_kappa": fallen / (found["initial_coupling"] or 1.0),
                }
            )
    return pd.DataFrame(rows, columns=_COLUMNS)


def counted(table: pd.DataFrame) -> list[dict[str, Any]]:
    """How often each domain that is named was chosen, and how often before any other."""
    return [
        {
            "stage": stage,
            "domain": domain,
            "choices": len(rows),
            "chosen": int(sum(domain in row.split() for row in rows["chosen"])),
            "chosen_first": int(sum(domain == row.partition(" ")[0] for row in rows["chosen"])),
        }
        for (stage, named), rows in table.groupby(["stage", "named"], sort=False)
        for domain in named.split()
    ]
