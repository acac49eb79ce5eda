"""Every regression family on every released swarm: fit of unseen runs against K = c(m+1)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from olmix.published.catalogue import Catalogue
from olmix.published.regression import family_of
from olmix.regressors.validation import validate
from olmix.study.proposals import olmix_base

__all__ = ["fit_by_multiplier", "summarised"]

_KEYS = ["swarm", "domains", "family", "c", "runs"]
_COLUMNS = [*_KEYS, "split", "fit", "fit_of_average"]


def fit_by_multiplier(
    catalogue: Catalogue, name: str, families: Mapping[str, Any], settings: Mapping[str, Any]
) -> pd.DataFrame:
    """One family on all swarms: a row for each c and each random split.

    All runs that are not fitted are held out; a c that leaves fewer than ``held_out`` is left out.
    """
    method = replace(olmix_base(), regressor=family_of(name), regressor_settings=families[name])
    rows = []
    for found in catalogue.found:
        released = catalogue.get(found)
        if released is None:
            continue
        table = released.table
        domains = len(table.domains)
        for c in settings["multipliers"]:
            runs = round(c * (domains + 1))
            if len(table) - runs < settings["held_out"]:
                continue
            for split in range(settings["splits"]):
                scored = validate(method, table, held_out=len(table) - runs, seed=split)
                rows.append([found, domains, name, c, runs, split, scored.mean, scored.average])
    return pd.DataFrame(rows, columns=_COLUMNS)


def summarised(fits: pd.DataFrame) -> pd.DataFrame:
    """Mean over splits, with the lowest and the highest, of both correlations."""
    grouped = fits.groupby(_KEYS, sort=False)[["fit", "fit_of_average"]]
    table = grouped.agg(["mean", "min", "max"])
    names = {"mean": "", "min": "_low", "max": "_high"}
    table.columns = [f"{score}{names[what]}" for score, what in table.columns]
    return table.reset_index()
