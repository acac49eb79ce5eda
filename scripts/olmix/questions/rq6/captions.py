"""Captions of RQ6: where to enforce the repetition factor?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import listed, spoken

__all__ = ["TABLES", "finding", "repetition_factor", "repetition_factor_all"]

TABLES = {
    "repetition_constraints": "Largest repetition and target BPB where the swarm, the optimisation "
    "or both are constrained, or, which is ours, proxies repeat what the target will.",
    "weights": "Proposed weight, cap and repetition of every domain for each factor k.",
}


def finding(answer: Path) -> str:
    """What the places for the constraint repeat, and their target BPB."""
    summary = read_json(answer / "summary.json")
    approaches = listed(
        f"{spoken(name)} {seen:.2f} times ({'met' if summary['satisfied'][name] else 'broken'}, "
        f"BPB {summary['target_bpb'][name]:.3f})"
        for name, seen in summary["largest_repetition"].items()
    )
    return (
        f"With k = {summary['repetition_factor']}, the most repeated domain is seen: {approaches}."
    )


def repetition_factor(answer: Path) -> str:
    """What the figure of weights against k shows, for the domains that move most."""
    return f"Proposed weights of the top domains against k. {_moved(answer)} {finding(answer)}"


def repetition_factor_all(answer: Path) -> str:
    """What the figure of weights against k shows, for all domains."""
    return f"Proposed weights of all domains against k. {_moved(answer)}"


def _moved(answer: Path) -> str:
    summary = read_json(answer / "summary.json")
    moved = summary["total_variation_from_smallest_to_largest_k"]
    text = f"From the smallest to the largest k the mix moves by {moved:.3f} in total variation"
    for key, word in (("grow", "growing"), ("shrink", "shrinking")):
        domains = summary[f"weights_that_only_{key}_with_k"]
        if domains:
            text += f"; {len(domains)} only {word} with k ({listed(domains)})"
    return text + "."
