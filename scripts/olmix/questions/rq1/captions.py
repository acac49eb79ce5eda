"""Captions of RQ1: how small may a proxy be?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import difference, interval, named

__all__ = ["TABLES", "finding", "proxy_size"]

TABLES = {
    "correlations": "Spearman and Pearson of each proxy size with the target, for the average BPB "
    "and for each task family, with 95 % intervals over mixes.",
    "proxy_size": "Average BPB of every mix with each proxy size and with the target.",
}


def finding(answer: Path) -> str:
    """Rank correlations of the proxy sizes, and the smallest against the chosen one."""
    summary = read_json(answer / "summary.json")
    best, against = summary["highest_spearman"], summary["spearman_against_proxy"]
    text = (
        f"Over {summary['mixes']} mixes, {best.upper()} proxies rank most like the target: "
        f"Spearman ρ {named(summary['spearman'], say=str.upper)}."
    )
    if against:
        smallest = next(iter(against))
        gap = against[smallest]
        text += (
            f" {smallest.upper()} differs from the chosen proxy by "
            f"{difference(gap['difference'])} ({interval(gap['interval'])})."
        )
    return text


def proxy_size(answer: Path) -> str:
    """What the figure of proxy sizes shows."""
    return f"Average BPB of each mix with the target and with each proxy size. {finding(answer)}"
