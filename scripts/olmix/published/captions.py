"""Captions of what the authors' released swarms give: the paper's values beside ours."""

from pathlib import Path

import pandas as pd

from olmix.presentation.wording import named, spoken
from olmix.published.regression import PLAIN

__all__ = [
    "TABLES",
    "coefficients",
    "final_mixes",
    "finding",
    "kl_sensitivity",
    "laws",
    "regression_models",
    "repetition_factor",
    "solvers",
    "swarm_size",
]

TABLES = {
    "comparison": "Every value of the paper that the released swarms can give, and ours.",
    "regression": "Fit of every family on the released swarm, by swarm size and held-out set.",
    "laws": "Fit of every family on every released swarm against K = c(m+1): mean over random "
    "splits, lowest and highest; mean over tasks, and of the average BPB.",
    "swarm_size": "RQ2: error of the authors' own proposed mixes by m and c, judged by laws.",
}


def finding(answer: Path) -> str:
    """How many of the paper's values agree with ours."""
    agrees = _values(answer)["agrees"]
    return (
        f"Of {len(agrees)} values of the paper, {(agrees == 'yes').sum()} agree within their "
        f"tolerance, {(agrees == 'no').sum()} differ, and {(agrees == '').sum()} need swarms that "
        "are not here."
    )


def regression_models(answer: Path) -> str:
    """What the figure of RQ4 on the released swarm shows, the paper's values beside ours."""
    return f"Fit against swarm size on the authors' runs. {_beside(answer, 'rq4')}"


def repetition_factor(answer: Path) -> str:
    """What the figure of RQ6 on the released swarm shows, the paper's values beside ours."""
    return f"Proposed weights against k on the authors' runs. {_beside(answer, 'rq6')}"


def solvers(answer: Path) -> str:
    """What the figure of RQ7 on the released swarm shows, the paper's values beside ours."""
    return f"Predicted BPB of each solver's mix on the authors' runs. {_beside(answer, 'rq7')}"


def kl_sensitivity(answer: Path) -> str:
    """What the figure of the KL term shows on the released swarm."""
    return f"Predicted BPB and distance from the prior against the KL weight. {finding(answer)}"


def coefficients(answer: Path) -> str:
    """What the figure of the fitted coefficients shows."""
    return f"Coefficients of the log-linear law by task and topic. {finding(answer)}"


def laws(answer: Path) -> str:
    """What the figure of all families on all swarms shows: the fit with m+1 runs."""
    fits = pd.read_csv(answer / "laws.csv")
    said = "; ".join(
        f"{swarm} {named(part.set_index('family')['fit'].sort_values(ascending=False), 2, _said)}"
        for swarm, part in fits[fits["c"] == 1].groupby("swarm", sort=False)
    )
    return f"Fit of unseen runs against K = c(m+1); mean and range over splits. At c = 1: {said}."


def swarm_size(answer: Path) -> str:
    """What the figure of RQ2 on the authors' proposed mixes shows."""
    errors = pd.read_csv(answer / "swarm_size.csv")
    if errors.empty:
        return "The authors' proposed mixes are missing."
    said = "; ".join(
        f"by {_said(law)} "
        + named(part.groupby("multiplier")["error"].mean(), 3, lambda c: f"c = {c:g}")
        for law, part in errors[errors["multiplier"] <= 5].groupby("law", sort=False)
    )
    return f"Error of the authors' own mixes against c, mean over m: {said} BPB."


def final_mixes(answer: Path) -> str:
    """What the figure of final mixes shows: those the paper prints, and ours."""
    return f"The paper's final mixes and ours from its runs. {_beside(answer, 'mix_')}"


def _values(answer: Path) -> pd.DataFrame:
    return pd.read_csv(answer / "comparison.csv", keep_default_na=False)


def _beside(answer: Path, start: str) -> str:
    """Paper and ours for the values whose id starts so; the overall count if there are none."""
    rows = _values(answer)
    rows = rows[rows["id"].str.startswith(start) & (rows["ours"] != "")]
    if rows.empty:
        return finding(answer)
    said = "; ".join(
        f"{row.what}: paper {row.paper}, ours {_short(row.ours)}" for row in rows.itertuples()
    )
    return f"{said[0].upper()}{said[1:]}."


def _said(name: str) -> str:
    return "log-linear, unregularised" if name == PLAIN else spoken(name)


def _short(value: str) -> str:
    try:
        return f"{float(value):.3g}"
    except ValueError:
        return value
