"""What the authors' released runs say about claims: directly, or through laws measured on them.

Tables of `snakemake published` are read in the shape that scales give, so that each claim has the
same measure and the same rule as everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from olmix.claims import configuration
from olmix.claims.board import estimates_of
from olmix.claims.evidence import Evidence, Measured, NotMeasured
from olmix.claims.rules import Estimate
from olmix.claims.settings import ClaimSettings
from olmix.measured.files import paper_domains
from olmix.measured.law import MeasuredLaw
from olmix.mix import Mix
from olmix.published.mixes import read_paper_mixes

__all__ = ["judge_released"]

# RQ4's families in the paper, and the number of DCLM's topics.
_FAMILIES = ("log_linear", "bimix", "autoscale", "gaussian_process", "lightgbm", "search")
_TOPICS = 24
_FULL, _PARTIAL, _NATURAL = "full_recomputation", "partial_mixture_reuse", "natural"
# Proxy runs over all updates, of partial reuse and of full recomputation (§5.2).
_RUNS = (272, 832)
_NOT_RUN = "the released swarms were not looked at here (snakemake published)"


def judge_released(
    settings: ClaimSettings,
    published: Path,
    mixes: Path,
    laws: Sequence[MeasuredLaw],
    scratch: Path,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The estimates of all claims that released runs are about; and why others have none.

    ``published`` are the results of `snakemake published`, ``mixes`` the paper's own final mixes,
    ``laws`` replicas of the measured law; tables in the questions' shape go to ``scratch``.
    """
    evidence = _evidence(published, scratch, settings.confidence)
    paper = read_paper_mixes(mixes)
    measures: Mapping[str, Callable[[], Measured]] = {
        "C02": lambda: _by_tables(evidence, configuration.swarm_size, "rq2"),
        "C05": lambda: _by_tables(evidence, configuration.regression_fit, "rq4"),
        "C06": lambda: _by_tables(evidence, configuration.late_family, "rq4"),
        "C10": lambda: _by_tables(evidence, configuration.repetition_factor, "rq6"),
        "C11": lambda: _predicted_half(evidence),
        "C13": lambda: _papers_gains(paper, laws, evidence),
        "C17": lambda: _papers_distances(paper, evidence),
    }
    tables, reasons = [], {}
    for claim in settings.claims:
        if claim.name not in measures:
            continue
        try:
            tables.append(estimates_of(claim, measures[claim.name]()))
        except NotMeasured as reason:
            reasons[claim.name] = str(reason)
    return pd.concat(tables, ignore_index=True), reasons


def _evidence(published: Path, scratch: Path, confidence: float) -> Evidence:
    """The tables of released swarms under the names that scales give theirs."""
    fits = [
        pd.read_csv(path)
        for family in _FAMILIES
        if (path := published / "published_regression" / f"{family}.csv").is_file()
    ]
    if len(fits) == len(_FAMILIES):
        fit = pd.concat(fits)
        fit = fit[fit["kind"] == "sizes"].assign(level="topics")
        _write(scratch / "rq4" / "fit.csv", fit)
        _write(scratch / "rq4" / "fit_by_domains.csv", pd.DataFrame({"domains": [_TOPICS]}))
    design = published / "published_design"
    if (design / "weights.csv").is_file():
        weights = pd.read_csv(design / "weights.csv")
        tokens = weights["domain"].map({domain.name: domain.tokens for domain in paper_domains()})
        # In proportion to caps, which is what the measure takes natural shares from.
        _write(scratch / "rq6" / "weights.csv", weights.assign(cap=weights["factor"] * tokens))
        _write(scratch / "rq7" / "solvers.csv", pd.read_csv(design / "solvers.csv"))
    proposed = published / "published_proposed.csv"
    if proposed.is_file():
        _write(scratch / "rq2" / "swarm_size_proposals.csv", _proposals(pd.read_csv(proposed)))
    return Evidence(scratch, confidence)


def _proposals(found: pd.DataFrame) -> pd.DataFrame:
    """Errors of the authors' own mixes by the ensemble of laws, where every m has every c."""
    found = found[found["law"] == "ensemble"].copy()
    found["multiplier"] = found["multiplier"].round().astype(int)
    complete = found.groupby("multiplier")["domains"].transform("nunique")
    return found[complete == found["domains"].nunique()]


def _predicted_half(evidence: Evidence) -> Measured:
    """C11: predicted BPB of each solver's mix; what the mixes measure was not released."""
    if not evidence.has("rq7", "solvers"):
        raise NotMeasured(_NOT_RUN)
    predicted = evidence.table("rq7", "solvers").set_index("solver")["predicted_bpb"]
    return {
        "kl_measured_lowest": [Estimate(np.nan, np.nan, np.nan, "not released")],
        "exact_predicted_lowest": [
            evidence.exact(value - predicted["exact"], f"topics {solver}")
            for solver, value in predicted.items()
            if solver != "exact"
        ],
    }


def _papers_gains(
    paper: Mapping[str, Mix], laws: Sequence[MeasuredLaw], evidence: Evidence
) -> Measured:
    """C13: what the paper's own partial and full mixes gain, by replicas of the measured law."""
    gains = []
    for law in laws:
        measured = law.fitted.form.domains
        mixes = [paper[name].aligned(measured).weights for name in (_NATURAL, _FULL, _PARTIAL)]
        natural, full, partial = law.bpb(np.array(mixes), 1.0).mean(1)
        gains.append((100 * (1 - full / natural), 100 * (1 - partial / natural)))
    full, partial = np.array(gains).T
    return {
        "share_kept": [evidence.over_draws(partial / full)],
        "fewer_runs": [evidence.exact(1 - _RUNS[0] / _RUNS[1])],
        "full_gains": [evidence.over_draws(full)],
    }


def _papers_distances(paper: Mapping[str, Mix], evidence: Evidence) -> Measured:
    """C17: distances between the mixes that the paper prints."""
    partial = paper[_PARTIAL]
    nearer = partial.total_variation(paper[_NATURAL]) - partial.total_variation(paper[_FULL])
    return {"nearer_to_full": [evidence.exact(nearer)]}


def _by_tables(
    evidence: Evidence, measure: Callable[[Evidence], Measured], question: str
) -> Measured:
    """A scale's own measure, where the tables of its question are there."""
    if not (evidence.results / question).is_dir():
        raise NotMeasured(_NOT_RUN)
    return measure(evidence)


def _write(path: Path, frame: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False)
