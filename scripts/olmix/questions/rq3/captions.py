"""Captions of RQ3: sparse or dense, around which prior?"""

from pathlib import Path

from olmix.files import read_json
from olmix.presentation.wording import difference, interval, listed, repeated

__all__ = ["TABLES", "finding", "swarm_distribution"]

TABLES = {
    "swarm_distribution": "Target BPB and fit of sparse and dense swarms over topics and sources.",
    "dirichlet_priors": "Target BPB and fit of swarms around the natural, strong and weak prior.",
    "fit_by_task": "The correlation of every task behind the mean fits.",
}


def finding(answer: Path) -> str:
    """Sparse against dense swarms at both levels, and the three priors."""
    summary = read_json(answer / "summary.json")
    parts = []
    for level, found in summary["distributions"].items():
        fit = found["sparse_minus_dense_fit"]
        parts.append(
            f"Over {level}, {found['lower_bpb']} swarms give the lower target BPB (sparse minus "
            f"dense {difference(found['sparse_minus_dense_bpb'])}) and {found['better_fit']} ones "
            f"the better fit ({difference(fit['difference'])}, {interval(fit['interval'])})."
        )
    priors = summary["priors"]
    against = listed(
        f"{name} {difference(entry['bpb'])}" for name, entry in priors["against_natural"].items()
    )
    parts.append(
        f"The {priors['lowest_bpb']} prior gives the lowest target BPB and the "
        f"{priors['best_fit']} one the best fit; target BPB against natural: {against}."
    )
    return " ".join(parts)


def swarm_distribution(answer: Path) -> str:
    """What the figure of sparse and dense swarms shows."""
    shown = f"Target BPB (left) and fit (right) of sparse and dense swarms.{repeated(answer)}"
    return f"{shown} {finding(answer)}"
