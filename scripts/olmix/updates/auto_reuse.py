"""Auto partial reuse: which unaffected domains to recompute, chosen by κ within a budget.

The paper leaves this choice to the practitioner (§6, third limitation). Theorem 1 says what it is
worth: recomputing a domain lowers the coupling κ(D_fix, D_comp). κ needs coefficients of the new
domains before their swarm exists, so a small probe swarm is run first: mixes over the virtual
domain and the affected ones, as full reuse would run. Together with the old runs that can be
represented on D' it gives one log-linear model of all domains, and the probe's runs count within
the budget and stay in the final swarm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.regressors.base import Regressor
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.terms import tangent
from olmix.tables import SwarmTable
from olmix.updates.operators import EXISTING, ReuseSplit, split_domains
from olmix.updates.planning import swarm_size
from olmix.updates.theory import coupling, coupling_reductions

__all__ = ["AutoChoice", "ChoiceStep", "choose_reuse", "join_swarms", "probe_size"]


@dataclass(frozen=True)
class ChoiceStep:
    """One greedy step: the domain moved to D_comp, what κ became and what the swarm now costs."""

    domain: str
    coupling: float
    reduction: float
    runs: int


@dataclass(frozen=True)
class AutoChoice:
    """The split chosen, the steps that led there, and why it stopped."""

    split: ReuseSplit
    initial_coupling: float
    steps: tuple[ChoiceStep, ...]
    runs: int
    probe_runs: int
    stopped: str

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain JSON values: the split, and what led to it."""
        return self.split.to_dict() | {
            "initial_coupling": self.initial_coupling,
            "steps": [
                {"domain": step.domain, "coupling": step.coupling, "reduction": step.reduction}
                for step in self.steps
            ],
            "why": self.explain(),
        }

    def explain(self) -> list[str]:
        """The choice in sentences, one a line."""
        lines = [
            f"Reusing all unaffected domains: κ = {self.initial_coupling:.4g}. "
            f"{self.probe_runs} probe runs were needed to know it."
        ]
        for step in self.steps:
            share = 100 * step.reduction / self.initial_coupling
            lines.append(
                f"Recompute {step.domain}: κ falls by {share:.1f} % to {step.coupling:.4g}; "
                f"{step.runs} runs in all."
            )
        lines.append(f"Stopped: {self.stopped}. {self.runs} runs, the probe's among them.")
        return lines


def probe_size(before: DomainSet, after: DomainSet, c: float = 1) -> int:
    """Runs of the probe swarm: m+1 over the virtual and the affected domains, fewer below c = 1."""
    affected = len(split_domains(before, after).resulting)
    return swarm_size(1 + affected, min(c, 1)) if affected else 0


def join_swarms(old: SwarmTable, new: SwarmTable) -> SwarmTable:
    """Two swarms over the same domains and tasks as one."""
    if old.domains != new.domains or set(old.tasks) != set(new.tasks):
        raise OlmixError(
            f"cannot join swarms: {len(old.domains)} and {len(new.domains)} domains, "
            f"{len(old.tasks)} and {len(new.tasks)} tasks, expected the same names in both"
        )
    new = new.select_tasks(old.tasks)
    repeated = set(old.runs) & set(new.runs)
    if repeated:
        raise OlmixError(f"cannot join swarms: run '{sorted(repeated)[0]}' is in both")
    return replace(
        old,
        runs=old.runs + new.runs,
        mixes=np.vstack([old.mixes, new.mixes]),
        metrics=np.vstack([old.metrics, new.metrics]),
        notes=(*old.notes, *new.notes),
    )


def choose_reuse(
    swarm: SwarmTable,
    before: DomainSet,
    after: DomainSet,
    *,
    budget: int,
    c: float = 3,
    min_reduction: float = 0.05,
    model: Regressor | None = None,
    at: Mix | None = None,
) -> AutoChoice:
    """Greedily move unaffected domains to D_comp while κ falls enough and the budget holds.

    Parameters
    ----------
    swarm
        Runs over D': the old ones carried over, and the probe's (see `join_swarms`).
    budget
        Proxy runs this update may cost, the probe included.
    c
        Multiplier of the swarm that will be run on the chosen split.
    min_reduction
        A domain must lower κ by this share of its first value to be worth its runs.
    model
        A law over D' to use instead of fitting a log-linear one on ``swarm``.
    at
        The mix at which log-linear coefficients stand for another law (default: the swarm's mean).
    """
    if swarm.domains != after.names:
        raise OlmixError(
            "auto reuse: the swarm is not over the updated domains, carry it over first"
        )
    unaffected = split_domains(before, after).unaffected
    if not unaffected:
        raise OlmixError("auto reuse: every domain is affected, there is nothing to reuse")
    probe = probe_size(before, after, c)
    cost = max(_cost(len(after) - len(unaffected), c), probe)
    if cost > budget:
        raise OlmixError(
            f"auto reuse: full mixture reuse already needs {cost} runs, the budget is {budget}"
        )
    law = model or LogLinear().fit(swarm.mixes, swarm.metrics)
    where = swarm.mixes.mean(0) if at is None else at.aligned(after.names).weights
    coefficients = tangent(law.terms(), where)
    fixed = np.array([name in set(unaffected) for name in after.names])
    first = now = coupling(coefficients, fixed)
    steps: list[ChoiceStep] = []
    stopped = "every unaffected domain is recomputed"
    if first == 0:
        stopped = "κ is 0 already: the reused domains move no task"
    while first > 0 and fixed.sum() > 1:
        drops = coupling_reductions(coefficients, fixed)
        best = int(np.nanargmax(drops))
        if drops[best] < min_reduction * first:
            stopped = (
                f"the next best, {after.names[best]}, would lower κ by only "
                f"{100 * drops[best] / first:.1f} % (asked: {100 * min_reduction:g} %)"
            )
            break
        next_cost = max(_cost(int((~fixed).sum()) + 1, c), probe)
        if next_cost > budget:
            stopped = (
                f"recomputing {after.names[best]} too would need {next_cost} runs, "
                f"the budget is {budget}"
            )
            break
        fixed[best] = False
        now, cost = now - drops[best], next_cost
        steps.append(ChoiceStep(after.names[best], float(now), float(drops[best]), cost))
    return AutoChoice(_split(after.names, fixed), first, tuple(steps), cost, probe, stopped)


def _cost(recomputed: int, c: float) -> int:
    """Runs of a swarm over one virtual domain and the recomputed ones."""
    return swarm_size(1 + recomputed, c) if recomputed else 0


def _split(names: Sequence[str], fixed: np.ndarray) -> ReuseSplit:
    frozen = tuple(name for name, keep in zip(names, fixed, strict=True) if keep)
    return ReuseSplit(
        {EXISTING: frozen}, tuple(name for name, keep in zip(names, fixed, strict=True) if not keep)
    )
