"""Captions of the main results: five updates, every strategy."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.presentation.wording import listed, percent
from olmix.updates.strategies import FULL_RECOMPUTATION, strategy_of

__all__ = [
    "TABLES",
    "checkpoints",
    "finding",
    "main_results",
    "proposed_mixes",
    "strategy_sentence",
]

TABLES = {
    "main_results": "Every chain: strategy, c, seed, total proxy runs, target BPB, improvement in "
    "per cent of natural's BPB.",
    "main_results_by_strategy": "Mean, smallest and largest improvement over seeds by strategy.",
    "auto_reuse": "What auto partial reuse chose to recompute after each update, in its order, and "
    "the share of κ that this took away, beside what the updates file names for partial reuse.",
    "full_domain_mixtures": "Natural, full recomputation and partial reuse over every domain.",
    "checkpoints": "BPB along the training of natural and of the best partial reuse mix.",
}


def finding(answer: Path) -> str:
    """The improvement over natural of every strategy, and the runs it took."""
    return strategy_sentence(read_json(answer / "summary.json")["strategies"].values())


def strategy_sentence(strategies: Iterable[dict[str, Any]]) -> str:
    """What each strategy gains over natural, with how many runs."""
    rows = listed(
        f"{_said(entry)} {entry['improvement']:+.1f} % ({entry['low']:.1f} to {entry['high']:.1f}) "
        f"with {entry['proxy_runs']} runs"
        for entry in strategies
    )
    return f"Improvement over the natural mix, mean and range over seeds: {rows}."


def main_results(answer: Path) -> str:
    """What the figure of the main results shows."""
    strategies = read_json(answer / "summary.json")["strategies"]
    kept = listed(
        f"{_said(entry)} keeps {percent(entry['share_of_full_recomputation'])} of the gain of full "
        f"recomputation with {percent(entry['fewer_runs'])} fewer runs"
        for entry in strategies.values()
        if entry["strategy"] != FULL_RECOMPUTATION.name
    )
    return (
        "Improvement over natural against all proxy runs; marks with nearly as many runs stand "
        f"beside each other. {finding(answer)} {_capital(kept)}."
    )


def checkpoints(answer: Path) -> str:
    """What the figure of BPB along training shows."""
    times = read_json(answer / "summary.json")["data_efficiency"]
    found = (
        "Partial mixture reuse does not reach the final BPB of natural."
        if times is None
        else f"Partial mixture reuse reaches natural's final BPB in {times:.2f} times fewer steps."
    )
    return f"BPB along the training of the target. {found}"


def proposed_mixes(answer: Path) -> str:
    """What the figure of the proposed mixes shows, on the domains that differ most."""
    summary = read_json(answer / "summary.json")
    return (
        "Final mixes of each strategy's best seed, single mixes without intervals, on the domains "
        "that differ most. Total variation of partial reuse to full "
        f"recomputation {summary['partial_to_full_tv']:.3f}, to natural "
        f"{summary['partial_to_natural_tv']:.3f}."
    )


def _said(entry: dict[str, Any]) -> str:
    """A strategy with its c, and its R where that is told."""
    requested = f", R {entry['requested']}" if "requested" in entry else ""
    return f"{strategy_of(entry['strategy']).label} (c = {entry['c']}{requested})"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
