"""Captions of RQ5: per task, per family, or aggregated?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import difference, interval, named, spoken

__all__ = ["TABLES", "finding", "granularity_proxy"]

TABLES = {
    "granularity": "Target and proxy BPB of the mix, and fit, for each granularity.",
    "held_out": "Measured and predicted BPB of the held-out mixes around the three proposals.",
}


def finding(answer: Path) -> str:
    """Fit and target BPB of the three granularities."""
    summary = read_json(answer / "summary.json")
    gain = summary["fit_above_aggregated"]["task"]
    return (
        f"Fit of the average BPB on {summary['held_out_mixes']} held-out mixes: "
        f"{named(summary['fit'])}; one law per task is {difference(gain['difference'])} above one "
        f"for the average ({interval(gain['interval'])}). Target BPB: "
        f"{named(summary['target_bpb'])}; the lowest is {spoken(summary['lowest_target_bpb'])}."
    )


def granularity_proxy(answer: Path) -> str:
    """What the figure of the granularities at the proxy scale shows."""
    bpb = named(read_json(answer / "summary.json")["proxy_bpb"])
    return f"BPB of the mix with the proxy ({bpb}), and fit, by granularity. {finding(answer)}"
