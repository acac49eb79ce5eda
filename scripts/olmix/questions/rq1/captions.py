"""Captions of RQ1: how small may a proxy be?"""

from functools import partial
from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import difference, interval, listed, named, size_label

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
    size = partial(size_label, parameters=summary["parameters"])
    text = (
        f"Over {summary['mixes']} mixes, proxies of {size(best)} parameters rank most like the "
        f"target: Spearman ρ {named(summary['spearman'], say=size)}."
    )
    if against:
        smallest = next(iter(against))
        gap = against[smallest]
        text += (
            f" {size(smallest)} differs from the chosen proxy by "
            f"{difference(gap['difference'])} ({interval(gap['interval'])})."
        )
    return text


def proxy_size(answer: Path) -> str:
    """What the figure of proxy sizes shows."""
    shown = "Average BPB of each mix with the target and with each proxy size"
    parameters = read_json(answer / "summary.json")["parameters"]
    if parameters:
        meant = listed(f"{size_label(name, parameters)} for {name}" for name in parameters)
        shown += f" (parameters; they stand for the paper's models: {meant})"
    return f"{shown}. {finding(answer)}"
