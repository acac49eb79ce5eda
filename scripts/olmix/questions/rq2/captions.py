"""Captions of RQ2: how many proxy runs for m domains?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import listed, percent

__all__ = ["TABLES", "finding", "swarm_size", "swarm_size_target"]

_ERROR = "how far the BPB of the proposed mix is above the best found for its m"
TABLES = {
    "swarm_size": f"Mean, lowest and highest error over seeds for each m and c: {_ERROR}.",
    "swarm_size_proposals": f"Every proposal behind the curves, with its error: {_ERROR}.",
    "swarm_size_target": "The same as swarm_size, measured with the target model.",
    "swarm_size_target_proposals": "The same as swarm_size_proposals, with the target model.",
}


def finding(answer: Path) -> str:
    """How the error falls with the swarm's size, measured with the proxy."""
    return _sweep(answer, "swarm_size")


def swarm_size(answer: Path) -> str:
    """What the figure of swarm sizes shows, measured with the proxy."""
    return f"Error of the proposed mix against K = c(m+1), proxy models. {finding(answer)}"


def swarm_size_target(answer: Path) -> str:
    """What the figure of swarm sizes shows, measured with the target."""
    found = _sweep(answer, "swarm_size_target")
    return f"Error of the proposed mix against K = c(m+1), target models. {found}"


def _sweep(answer: Path, name: str) -> str:
    found = read_json(answer / "summary.json")[name]
    errors = {c: entry["mean"] for c, entry in found["error_by_multiplier"].items()}
    values = listed(f"{error:.3f} at c = {c}" for c, error in errors.items())
    text = f"Mean over m = {listed(found['best_bpb'])} of the BPB above the best found: {values}."
    shares = found["variance_explained"]
    if shares:
        text += (
            f" c explains {percent(shares['multiplier'])} of the variance of these errors and "
            f"m {percent(shares['domains'])}."
        )
    return text
