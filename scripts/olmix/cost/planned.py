"""What the cost report counts: the swarms, questions and chains of a plan as plain values."""

from typing import Any

from olmix.study.jobs import Jobs
from olmix.study.question import Question

__all__ = ["planned_chains", "planned_questions", "planned_swarms"]


def planned_swarms(jobs: Jobs) -> dict[str, dict[str, Any]]:
    """Every swarm with what its cost depends on: model, runs, scores, what it comes after."""
    plan = jobs.plan
    pools = {pool for updates in plan.groups.values() for pool in updates.pools.values()}
    rows = {}
    for name, spec in plan.swarms.items():
        more = jobs.swarm(name).scored - 1
        rows[name] = {
            "model": spec.model,
            "runs": spec.size,
            # On average: only some runs are also scored along training.
            "scored": 1 + len(spec.curve) * more / spec.size,
            "after": list(plan.comes_after(name)),
            "pool": name in pools,
        }
    return rows


def planned_questions(jobs: Jobs, questions: dict[str, Question]) -> dict[str, dict[str, Any]]:
    """Every question with its swarms and figures, and whether `snakemake` makes it unasked."""
    return {
        name: {
            "swarms": sorted(jobs.plan.needed_swarms(name)),
            "figures": list(question.figures),
            "unasked": question.paper or jobs.plan.scale.ours,
        }
        for name, question in questions.items()
    }


def planned_chains(jobs: Jobs) -> list[dict[str, Any]]:
    """Every chain of the scale's updates: runs as the paper counts them, and trained for it."""
    updates = jobs.plan.updates
    return [
        {
            "group": group.name,
            "target": group.target,
            **chain.to_dict(),
            "counted": updates.total_runs(chain),
            "trained": updates.new_runs(chain),
        }
        for group in updates.groups.values()
        for chain in group.chains
    ]
