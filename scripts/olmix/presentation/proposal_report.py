"""What a person reads of a proposal: a short table on screen, and CSV files."""

import csv
from collections.abc import Sequence
from pathlib import Path

from olmix.files import replacing
from olmix.mix import Mix
from olmix.presentation.wording import spoken
from olmix.proposers.proposal import Proposal
from olmix.proposers.sensitivity import SweepPoint
from olmix.proposers.uncertainty import Refits, member_gains
from olmix.regressors.surrogate import Surrogate

__all__ = ["gain_lines", "law_lines", "mix_table", "write_mix_csv", "write_sweep_csv"]

Intervals = dict[str, tuple[float, float]]


def mix_table(
    proposal: Proposal, natural: Mix, intervals: Intervals | None, most: int = 15
) -> list[str]:
    """The largest weights, one line a domain: natural, proposed, repetition, cap."""
    ranked = sorted(proposal.mix.to_dict().items(), key=lambda item: -item[1])
    width = max(len(name) for name, _ in ranked[:most])
    header = f"  {'domain':<{width}}  natural  proposed"
    header += "   bootstrap interval" if intervals else ""
    header += "  times seen" if proposal.repetition else ""
    lines = [header]
    for name, weight in ranked[:most]:
        line = f"  {name:<{width}}  {natural[name]:7.4f}  {weight:8.4f}"
        if intervals:
            line += f"    {intervals[name][0]:7.4f}-{intervals[name][1]:.4f}  "
        if proposal.repetition:
            line += f"  {proposal.repetition[name]:10.2f}"
            line += "  at its cap" if name in proposal.active_caps else ""
        lines.append(line)
    if len(ranked) > most:
        rest = sum(weight for _, weight in ranked[most:])
        lines.append(f"  ... and {len(ranked) - most} more domains with {rest:.4f} together")
    return lines


def write_mix_csv(
    path: str | Path, proposal: Proposal, natural: Mix, intervals: Intervals | None
) -> None:
    """Every domain: natural, proposed, cap, times seen, and the interval where there is one."""
    columns = ["domain", "natural", "weight", "cap", "times_seen", "low", "high"]
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for name, weight in proposal.mix.to_dict().items():
            low, high = intervals[name] if intervals else ("", "")
            cap = proposal.caps[name]
            seen = proposal.repetition[name] if proposal.repetition else ""
            writer.writerow(
                [name, natural[name], weight, "" if cap is None else cap, seen, low, high]
            )


def write_sweep_csv(path: str | Path, points: Sequence[SweepPoint]) -> None:
    """Write a row per λ: predicted BPB, distance from the prior, then every weight."""
    names = points[0].proposal.mix.names
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["kl", "predicted_average", "distance_from_prior", *names])
        for point in points:
            weights = point.proposal.mix.weights.tolist()
            writer.writerow([point.kl, point.proposal.average, point.distance, *weights])


def law_lines(surrogate: Surrogate, mix: Mix, natural: Mix) -> list[str]:
    """What the fit chose, and the gain over natural that each of its laws predicts for the mix."""
    lines = list(surrogate.regressor.choices())
    error = surrogate.regressor.unseen_error()
    if error is not None and error >= 1:
        lines.append("note: the mean of the runs predicts unseen ones as well: the mix is a guess")
    gains = member_gains(surrogate, mix, natural)
    if len(gains) > 1:
        used = {term.family for term in surrogate.regressor.terms()}
        listed = ", ".join(
            f"{spoken(name)} {100 * gain:+.1f} %" + ("" if name in used else " (without weight)")
            for name, gain in gains.items()
        )
        lines.append(f"gain over natural by each law: {listed}")
    return lines


def gain_lines(
    proposal: Proposal,
    natural_average: float | None,
    spread: Refits | None,
    unit: str = "BPB",
) -> list[str]:
    """Predicted BPB against natural, the interval of the gain, and how the solver ended."""
    lines = []
    if proposal.average is not None and natural_average is not None:
        gain = 100 * (natural_average - proposal.average) / abs(natural_average)
        lines.append(
            f"predicted average {unit} {proposal.average:.4f}, natural {natural_average:.4f}: "
            f"{gain:+.1f} % better"
        )
    if spread:
        low, high = (100 * value for value in spread.gain_interval())
        lines.append(
            f"  better than natural by {low:+.1f} to {high:+.1f} % in "
            f"{100 * spread.level:g} % of {len(spread.gains)} bootstrap replicates"
        )
    capped = len(proposal.active_caps)
    lines.append(
        f"solver: {proposal.solver['name']} ({proposal.status}); {capped} weights at their cap"
    )
    return lines
