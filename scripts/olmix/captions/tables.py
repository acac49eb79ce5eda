"""Captions of the descriptive tables."""

from pathlib import Path

import pandas as pd

from olmix.captions.wording import listed

__all__ = ["TABLES", "finding"]

_COST = "Domains recomputed and proxy runs at each stage for c = 1, 2, 3, from the planner: "
TABLES = {
    "domain_updates": "The updates, and how many domains each adds or removes.",
    "domain_sizes": "Source, topic and token count of every domain.",
    "eval_suite": "The paper's evaluation tasks: family, shots, instances, how they are matched.",
    "model_architectures": "Shapes and training lengths of proxies and targets.",
    "design_choices": "The seven design choices across mixing methods (the paper's table).",
    "cost_full_recomputation": f"{_COST}full recomputation.",
    "cost_swarm_reuse": f"{_COST}swarm reuse.",
    "cost_full_reuse": f"{_COST}full mixture reuse.",
    "cost_partial_reuse": f"{_COST}partial mixture reuse.",
}


def finding(answer: Path) -> str:
    """How the sequences of updates grow."""
    frame = pd.read_csv(answer / "domain_updates.csv")
    grown = listed(
        f"from {part['domains'].iloc[0]} to {part['domains'].iloc[-1]} domains in "
        f"{len(part) - 1} updates ({scale})"
        for scale, part in frame.groupby("scale", sort=False)
    )
    return f"The domains go {grown}."
