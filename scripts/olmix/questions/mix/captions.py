"""Captions of one's own mix."""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import listed
from olmix.questions.mix.figures import LABELS

__all__ = ["TABLES", "finding", "mix", "mix_gain", "mix_tasks"]

TABLES = {
    "mix": "Every domain: tokens, natural and proposed weight with its bootstrap interval, cap, "
    "and how often it is seen in the run that the mix is for.",
    "gains": "Measured gain of the proposed mix over each other, in % of its BPB.",
    "tasks": "The same task by task, with the weight of each task.",
    "targets": "Average BPB of every target run.",
    "bpb": "Mean average BPB of each mix over its target runs.",
}


def finding(answer: Path) -> str:
    """What target runs gained by the proposed mix, with intervals."""
    found = read_json(answer / "summary.json")
    gains = listed(_gain(over, *found["gains"][over]) for over in found["gains"])
    return (
        f"Measured with {found['target_repeats']} target runs of each mix, the proposed one gains "
        f"{gains} ({100 * found['level']:g} % intervals)."
    )


def mix(answer: Path) -> str:
    """What the figure of the proposed weights shows."""
    found = read_json(answer / "summary.json")
    runs = found["proxy_runs"]
    made = f"fitted on {runs} proxies" if runs else "the frozen ratios, as nothing is recomputed"
    return f"Weights of the proposed mix, {made}, and of the natural one. {finding(answer)}"


def mix_gain(answer: Path) -> str:
    """What the figure of the measured gains shows."""
    return f"Gain of the proposed mix, measured by target runs. {finding(answer)}"


def mix_tasks(answer: Path) -> str:
    """What the figure of the gains by task shows."""
    return f"Gain of the proposed mix on every task that counts. {finding(answer)}"


def _gain(over: str, gain: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None else f" ({low:+.1f} to {high:+.1f})"
    return f"{gain:+.1f} % of BPB{ends} over the {LABELS[over]}"
