"""Captions of the descriptive tables: each has numbers of its own."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from olmix.presentation.wording import listed

__all__ = ["TABLES", "finding"]


def finding(answer: Path) -> str:
    """How the sequences of updates grow."""
    frame = pd.read_csv(answer / "domain_updates.csv")
    grown = listed(
        f"from {part['domains'].iloc[0]} to {part['domains'].iloc[-1]} domains in "
        f"{len(part) - 1} updates ({scale})"
        for scale, part in frame.groupby("scale", sort=False)
    )
    return f"The domains change at each update: {grown}."


def _domain_sizes(answer: Path) -> str:
    frame = pd.read_csv(answer / "domain_sizes.csv")
    counted = listed(
        f"{len(part)} domains with {part['tokens'].sum():.3g} tokens ({scale})"
        for scale, part in frame.groupby("scale", sort=False)
    )
    return f"Source, topic and tokens of every domain: {counted}."


def _eval_suite(answer: Path) -> str:
    frame = pd.read_csv(answer / "eval_suite.csv")
    families = listed(f"{count} {name}" for name, count in frame["family"].value_counts().items())
    return f"The {len(frame)} tasks of the paper's suite: {families}."


def _model_architectures(answer: Path) -> str:
    frame = pd.read_csv(answer / "model_architectures.csv")
    sizes = listed(
        f"{part['parameters'].min():.3g} to {part['parameters'].max():.3g} ({scale})"
        for scale, part in frame.groupby("scale", sort=False)
    )
    return f"Shapes and training lengths of proxies and target; parameters: {sizes}."


def _design_choices(answer: Path) -> str:
    frame = pd.read_csv(answer / "design_choices.csv")
    methods = listed(frame.columns[1:])
    return f"The {len(frame)} design choices of {len(frame.columns) - 1} methods: {methods}."


def _cost(table: str, answer: Path) -> str:
    frame = pd.read_csv(answer / f"{table}.csv")
    frame = frame[frame["stage"] != "total"]
    costs = [column for column in frame if column.startswith("c=")]
    totals = listed(
        f"{listed(f'{total:.0f}' for total in part[costs].sum())} ({scale})"
        for scale, part in frame.groupby("scale", sort=False)
    )
    said = ", ".join(costs).replace("c=", "c = ", 1).replace("c=", "")
    return f"Proxy runs at each stage, from the planner; over all stages for {said}: {totals}."


#: table -> its caption, from the folder of tables
TABLES: dict[str, Callable[[Path], str]] = {
    "domain_updates": finding,
    "domain_sizes": _domain_sizes,
    "eval_suite": _eval_suite,
    "model_architectures": _model_architectures,
    "design_choices": _design_choices,
    "cost_full_recomputation": partial(_cost, "cost_full_recomputation"),
    "cost_swarm_reuse": partial(_cost, "cost_swarm_reuse"),
    "cost_full_reuse": partial(_cost, "cost_full_reuse"),
    "cost_partial_reuse": partial(_cost, "cost_partial_reuse"),
}
