"""What is measured for the claims about updates of the domain set (§5, and its appendix)."""

import math
from itertools import pairwise

import pandas as pd

from olmix.claims.evidence import Evidence, Measured, NotMeasured
from olmix.claims.rules import Estimate
from olmix.questions.updates.answer import data_efficiency
from olmix.study.chain import NATURAL
from olmix.updates import strategies

__all__ = ["MEASURES"]

FULL_RECOMPUTATION = strategies.FULL_RECOMPUTATION.name
SWARM_REUSE = strategies.SWARM_REUSE.name
FULL_MIXTURE_REUSE = strategies.FULL_MIXTURE_REUSE.name
PARTIAL_MIXTURE_REUSE = strategies.PARTIAL_MIXTURE_REUSE.name
LABELS = {FULL_MIXTURE_REUSE: "full reuse", PARTIAL_MIXTURE_REUSE: "partial reuse"}
# The topic that the paper finds coupled with code.
COUPLED_TOPIC = "software_development"
# Operators that change what reuse has to propose; revising hardly does.
CHANGING = ("add", "remove", "partition")


def full_reuse(evidence: Evidence) -> Measured:
    """C12: what full mixture reuse keeps of full recomputation's gain, and saves of its runs."""
    frame = _chains(evidence, "updates", "main_results")
    return _kept(evidence, frame, FULL_MIXTURE_REUSE) | _saved(evidence, frame, FULL_MIXTURE_REUSE)


def partial_reuse(evidence: Evidence) -> Measured:
    """C13: what partial mixture reuse keeps of full recomputation's gain, and saves of its runs."""
    frame = _chains(evidence, "updates", "main_results")
    kept = _kept(evidence, frame, PARTIAL_MIXTURE_REUSE)
    return kept | _saved(evidence, frame, PARTIAL_MIXTURE_REUSE)


def swarm_reuse(evidence: Evidence) -> Measured:
    """C14: mixture reuse against swarm reuse."""
    return {"above_swarm_reuse": _reuse_above(evidence, SWARM_REUSE, 3)}


def small_swarms(evidence: Evidence) -> Measured:
    """C15: mixture reuse against full recomputation from the smallest swarms."""
    return {"above_small_swarms": _reuse_above(evidence, FULL_RECOMPUTATION, 1)}


def _chains(
    evidence: Evidence, question: str, name: str, requested: str = "relaxed"
) -> pd.DataFrame:
    """The chains of a table for one R, by strategy, c and seed."""
    frame = evidence.table(question, name)
    chains = frame[frame["requested"] == requested]
    return chains.set_index(["strategy", "c", "seed"]).sort_index()


def _gains(frame: pd.DataFrame, strategy: str, c: int = 3) -> pd.Series:
    """Improvement over natural in percent, by seed."""
    return _followed(frame, strategy, c)["improvement"]


def _followed(frame: pd.DataFrame, strategy: str, c: int) -> pd.DataFrame:
    """The chains of a strategy and c; a method that answers in its own way may leave some out."""
    if (strategy, c) not in frame.index.droplevel("seed"):
        raise NotMeasured(f"the method of the updates leaves out {strategy.replace('_', ' ')}")
    return frame.loc[(strategy, c)]


def _kept(evidence: Evidence, frame: pd.DataFrame, strategy: str) -> Measured:
    """The share of full recomputation's gain (c = 3), by seed; and that gain itself."""
    full = _gains(frame, FULL_RECOMPUTATION)
    return {
        "share_kept": [evidence.over_seeds(_gains(frame, strategy) / full)],
        "full_gains": [_over_natural(evidence, frame, FULL_RECOMPUTATION, 3)],
    }


def _saved(evidence: Evidence, frame: pd.DataFrame, strategy: str) -> Measured:
    """The share of full recomputation's runs (c = 3) that a strategy does without."""
    runs = [frame.loc[(name, 3), "proxy_runs"].iloc[0] for name in (strategy, FULL_RECOMPUTATION)]
    if not runs[1]:
        raise NotMeasured("the method of the updates trains no proxies")
    return {"fewer_runs": [evidence.exact(1 - runs[0] / runs[1])]}


def _over_natural(
    evidence: Evidence, frame: pd.DataFrame, strategy: str, c: int, label: str = ""
) -> Estimate:
    """A strategy's gain over the one natural run, whose noise counts too."""
    part = _followed(frame, strategy, c)
    natural = (part["bpb"] / (1 - part["improvement"] / 100)).mean()
    return evidence.over_seeds(
        part["improvement"], label, natural=100 * evidence.noise[0] / natural
    )


def _reuse_above(evidence: Evidence, strategy: str, c: int) -> list[Estimate]:
    """How much more both kinds of mixture reuse gain than another strategy, paired by seed."""
    frame = _chains(evidence, "updates", "main_results")
    other = _gains(frame, strategy, c)
    return [
        evidence.over_seeds(_gains(frame, reuse) - other, label) for reuse, label in LABELS.items()
    ]


def checkpoints(evidence: Evidence) -> Measured:
    """C16: steps that natural and partial reuse take to natural's final BPB.

    Two single runs are compared, so natural's final BPB is moved by as much as two runs of one mix
    may differ. A goal that is not reached counts as reached with the last step.
    """
    nothing = NotMeasured("no BPB along training at this scale")
    if not evidence.has("updates", "checkpoints"):
        raise nothing
    curve = evidence.table("updates", "checkpoints")
    if curve.empty or curve.groupby("mix")["step"].nunique().min() < 2:
        raise nothing

    def speed_up(shift: float) -> float:
        natural = curve["mix"] == NATURAL
        found = data_efficiency(curve.assign(bpb=curve["bpb"] + shift * natural))
        return 1.0 if found is None else found

    apart = evidence.run_difference
    return {"speed_up": [Estimate(speed_up(0.0), speed_up(-apart), speed_up(apart))]}


def proposed_mixes(evidence: Evidence) -> Measured:
    """C17: distances of partial reuse's mixes, by seed."""
    frame = evidence.table("updates", "total_variation")
    part = frame[frame["strategy"] == PARTIAL_MIXTURE_REUSE]
    nearer = part["to_natural"] - part["to_full_recomputation"]
    return {"nearer_to_full": [evidence.over_seeds(nearer)]}


def tight_reuse(evidence: Evidence) -> Measured:
    """C18: what full mixture reuse keeps where R is six times larger."""
    return _kept(evidence, _chains(evidence, "budgets", "budgets", "tight"), FULL_MIXTURE_REUSE)


def low_budget(evidence: Evidence) -> Measured:
    """C19: full mixture reuse from the smallest swarms, at both R."""
    frames = {r: _chains(evidence, "budgets", "budgets", r) for r in ("relaxed", "tight")}
    return {
        "still_gains": [
            _over_natural(evidence, frame, FULL_MIXTURE_REUSE, 1, requested)
            for requested, frame in frames.items()
        ]
    }


def reuse_gap(evidence: Evidence) -> Measured:
    """C20: performance gaps of ratios ever farther from the optimal ones, paired by seed."""
    frame = evidence.table("theory", "reuse_gap")
    order = ("optimal", "intermediate", "weak")
    measured: Measured = {"gap_rises": [], "gap_never_falls": []}
    for setting, part in frame.groupby("setting", sort=False):
        gaps = part.pivot(index="seed", columns="mix", values="gap")
        measured["gap_rises"].append(evidence.over_seeds(gaps["weak"] - gaps["optimal"], setting))
        measured["gap_never_falls"] += [
            evidence.over_seeds(gaps[far] - gaps[near], f"{setting}, {near} to {far}")
            for near, far in pairwise(order)
        ]
    return measured


def update_shift(evidence: Evidence) -> Measured:
    """C21: gaps and shifts at relaxed R against tight R, paired by seed."""
    frame = evidence.table("theory", "update_shift")
    parts = {"gap_larger": "gap", "reuse_gap_larger": "reuse_gap", "shift_larger": "shift"}
    measured: Measured = {}
    for part, column in parts.items():
        measured[part] = []
        for setting, rows in frame.groupby("setting", sort=False):
            values = rows.pivot(index="seed", columns="requested", values=column)
            difference = values["relaxed"] - values["tight"]
            measured[part].append(evidence.over_seeds(difference, setting))
    return measured


def coupling(evidence: Evidence) -> Measured:
    """C22: κ without each topic, and both gaps with and without the coupled one recomputed."""
    reductions = evidence.table("theory", "kappa_reduction").pivot(
        index="seed", columns="domain", values="reduction"
    )
    coupled = [name for name in reductions if name.split(":")[-1] == COUPLED_TOPIC]
    if not coupled:
        raise NotMeasured(f"no topic {COUPLED_TOPIC}")
    next_best = reductions.drop(columns=coupled).max(axis=1)
    lead = (reductions[coupled[0]] - next_best) / reductions.abs().max(axis=1)
    frame = evidence.table("theory", "partial_reuse_coupling")

    def shrinks(column: str) -> list[Estimate]:
        values = frame.pivot(index="seed", columns="strategy", values=column)
        return [evidence.over_seeds(values[FULL_MIXTURE_REUSE] - values[PARTIAL_MIXTURE_REUSE])]

    return {
        "kappa_lead": [evidence.over_seeds(lead)],
        "reuse_gap_shrinks": shrinks("reuse_gap"),
        "gap_shrinks": shrinks("gap"),
    }


def operators(evidence: Evidence) -> Measured:
    """C23: natural and full reuse against full recomputation after each operator alone."""
    frame = evidence.table("operators", "operators")
    measured: Measured = {"nearer_mix": [], "nearer_bpb": []}
    for operator in CHANGING:
        part = frame[frame["operator"] == operator]
        tv = part.pivot(index="seed", columns="strategy", values="tv")
        gap = part.pivot(index="seed", columns="strategy", values="gap")
        nearer = tv[NATURAL] - tv[FULL_MIXTURE_REUSE]
        measured["nearer_mix"].append(evidence.over_seeds(nearer, operator))
        noise = 100 * evidence.noise[0] / part["full_bpb"].mean()
        smaller = gap[NATURAL] - gap[FULL_MIXTURE_REUSE]
        measured["nearer_bpb"].append(evidence.over_seeds(smaller, operator, natural=noise))
    revise = frame[(frame["operator"] == "revise") & (frame["strategy"] == FULL_MIXTURE_REUSE)]
    if revise.empty:
        return measured | {"revise_same": [Estimate(math.nan, math.nan, math.nan, "left out")]}
    return measured | {"revise_same": [evidence.over_seeds(revise["tv"])]}


MEASURES = {
    "C12": full_reuse,
    "C13": partial_reuse,
    "C14": swarm_reuse,
    "C15": small_swarms,
    "C16": checkpoints,
    "C17": proposed_mixes,
    "C18": tight_reuse,
    "C19": low_budget,
    "C20": reuse_gap,
    "C21": update_shift,
    "C22": coupling,
    "C23": operators,
}
