"""Captions of the theory: reuse gap, update shift, coupling (§4.3, §5.2)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.presentation.wording import domain_label, listed, percent, spoken

__all__ = [
    "TABLES",
    "finding",
    "kappa_reduction",
    "partial_reuse_coupling",
    "reuse_gap",
    "reused_vs_optimal",
    "update_shift",
]

TABLES = {
    "reuse_gap": "Reuse gap and performance gap of weak, intermediate and optimal ratios.",
    "update_shift": "1 − ρ*, reuse gap and performance gap where R varies.",
    "reused_vs_optimal": "Reused and optimal ratios of the unaffected domains.",
    "partial_reuse_coupling": "Full and partial mixture reuse: 1 − ρ*, coupling and both gaps.",
    "kappa_reduction": "How much recomputing each unaffected domain lowers the coupling κ.",
}


def finding(answer: Path) -> str:
    """What was found about both theorems and about the coupling."""
    return f"{_gaps(_summary(answer))} {_coupling(_summary(answer))}"


def reuse_gap(answer: Path) -> str:
    """What the figure of the reuse gap shows (Theorem 1)."""
    return f"Performance gap against reuse gap. {_gaps(_summary(answer))}"


def update_shift(answer: Path) -> str:
    """What the figure of the update shift shows (Theorem 2)."""
    rows = []
    for setting, found in _summary(answer)["update_shift"].items():
        points = listed(
            f"{entry['shift']:.3f}, {entry['reuse_gap']:.3f} and {entry['gap']:.2f} % "
            f"({spoken(requested)} R)"
            for requested, entry in _points(found).items()
        )
        grows = _grows(found["reuse_gap_grows_with_shift"] and found["gap_grows_with_shift"])
        rows.append(f"{spoken(setting)}: {points}; both gaps {grows} with the shift")
    return f"1 − ρ*, reuse gap and performance gap: {'. '.join(rows)}."


def reused_vs_optimal(answer: Path) -> str:
    """What the figure of reused against optimal ratios shows."""
    found = _summary(answer)["partial_reuse_coupling"]
    gaps = listed(f"{spoken(name)} {entry['reuse_gap']:.3f}" for name, entry in found.items())
    return f"Reused against optimal ratios of the unaffected domains. Reuse gap: {gaps}."


def partial_reuse_coupling(answer: Path) -> str:
    """What the figure of partial reuse and the coupling shows."""
    return f"Full and partial mixture reuse. {_coupling(_summary(answer))}"


def kappa_reduction(answer: Path) -> str:
    """What the figure of the drops of κ shows: which domain is coupled."""
    found = _summary(answer)["kappa_reduction"]
    (coupled, most), *others = found["shares"].items()
    following = [f"; the next, {domain_label(name)}, {percent(share)}" for name, share in others]
    return (
        "Fall of the coupling κ where one more domain is recomputed. "
        f"{domain_label(coupled)} lowers it most, by {percent(most)}{''.join(following[:1])}. "
        f"Partial reuse recomputes {listed(map(domain_label, found['recomputed']))}."
    )


def _summary(answer: Path) -> dict[str, Any]:
    return read_json(answer / "summary.json")


def _points(found: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a summary that hold values, not verdicts."""
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def _grows(yes: bool) -> str:
    return "grow" if yes else "do not always grow"


def _gaps(summary: Mapping[str, Any]) -> str:
    rows = []
    for setting, found in summary["reuse_gap"].items():
        points = listed(
            f"{entry['reuse_gap']:.3f} and {entry['gap']:.2f} % ({spoken(mix)} ratios)"
            for mix, entry in _points(found).items()
        )
        grows = "grows" if found["gap_grows_with_reuse_gap"] else "does not always grow"
        rows.append(f"{spoken(setting)}: {points}; the performance gap {grows} with the reuse gap")
    return f"Reuse gap and performance gap, {'. '.join(rows)}."


def _coupling(summary: Mapping[str, Any]) -> str:
    rows = listed(
        f"{spoken(name)} {entry['kappa']:.3f}, {entry['shift']:.3f}, {entry['reuse_gap']:.3f} and "
        f"{entry['gap']:.2f} %"
        for name, entry in summary["partial_reuse_coupling"].items()
    )
    return f"Coupling κ, 1 − ρ*, reuse gap and performance gap: {rows}."
