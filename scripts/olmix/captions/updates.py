"""Captions of the main results: five updates, every strategy."""

from pathlib import Path
from typing import Any

from olmix.captions.wording import listed, percent, spoken
from olmix.files import read_json

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
    "full_domain_mixtures": "Natural, full recomputation and partial reuse over every domain.",
    "checkpoints": "BPB along the training of natural and of the best partial reuse mix.",
}


def finding(answer: Path) -> str:
    """Improvement and runs of every strategy."""
    return strategy_sentence(read_json(answer / "summary.json")["strategies"])


def strategy_sentence(strategies: dict[str, dict[str, Any]]) -> str:
    """What each strategy gains over natural, with how many runs."""
    rows = listed(
        f"{_said(name)} {entry['improvement']:+.1f} % ({entry['low']:.1f} to {entry['high']:.1f}) "
        f"with {entry['proxy_runs']} runs"
        for name, entry in strategies.items()
    )
    return f"Improvement over the natural mix, mean and range over seeds: {rows}."


def main_results(answer: Path) -> str:
    """The headline figure."""
    strategies = read_json(answer / "summary.json")["strategies"]
    kept = listed(
        f"{_said(name)} keeps {percent(entry['share_of_full_recomputation'])} of the gain of full "
        f"recomputation with {percent(entry['fewer_runs'])} fewer runs"
        for name, entry in strategies.items()
        if not name.startswith("full_recomputation")
    )
    return f"Improvement over natural against all proxy runs. {finding(answer)} {_capital(kept)}."


def checkpoints(answer: Path) -> str:
    """BPB along training."""
    times = read_json(answer / "summary.json")["data_efficiency"]
    found = (
        "Partial mixture reuse does not reach the final BPB of natural."
        if times is None
        else f"Partial mixture reuse reaches natural's final BPB in {times:.2f} times fewer steps."
    )
    return f"BPB along the training of the target. {found}"


def proposed_mixes(answer: Path) -> str:
    """The mixes on the domains that differ most."""
    summary = read_json(answer / "summary.json")
    return (
        "Final mixes on the domains that differ most. Total variation of partial reuse to full "
        f"recomputation {summary['partial_to_full_tv']:.3f}, to natural "
        f"{summary['partial_to_natural_tv']:.3f}."
    )


def _said(chain: str) -> str:
    strategy, _, rest = chain.partition("-c")
    c, _, requested = rest.partition("-")
    return f"{spoken(strategy)} (c = {c}{', R ' + requested if requested else ''})"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
