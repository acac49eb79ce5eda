"""Captions of each update operator alone."""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import listed, spoken

__all__ = ["TABLES", "finding", "operators"]

TABLES = {
    "operators": "Each operator and seed: total variation and BPB against full recomputation, for "
    "natural and for full mixture reuse.",
}


def finding(answer: Path) -> str:
    """How near full reuse comes to full recomputation, operator by operator."""
    found = read_json(answer / "summary.json")["operators"]
    rows = listed(
        f"{spoken(operator)} {entry['full_mixture_reuse']['gap']:.2f} % and "
        f"{entry['full_mixture_reuse']['tv']:.3f} (natural {entry['natural']['gap']:.2f} % and "
        f"{entry['natural']['tv']:.3f})"
        for operator, entry in found.items()
    )
    nearer = sum(entry["reuse_is_nearer"] for entry in found.values())
    return (
        "Performance gap and total variation of full mixture reuse to full recomputation: "
        f"{rows}. Reuse is nearer than natural for {nearer} of {len(found)} operators."
    )


def operators(answer: Path) -> str:
    """What the figure of the update operators shows."""
    return f"Gap and distance to full recomputation by update operator. {finding(answer)}"
