# What the cost report counts.


def planned_swarms():
    """Every swarm with what it costs by, for the cost report."""
    return {
        name: {
            "model": swarm.model,
            "runs": swarm.size,
            # On average: only some runs are also scored along training.
            "scored": 1 + len(swarm.curve) * (job_size(name)[1] - 1) / swarm.size,
            "after": list(PLAN.comes_after(name)),
        }
        for name, swarm in PLAN.swarms.items()
    }


def planned_questions():
    """Every question with the swarms it needs and the figures it draws."""
    return {
        question: {
            "swarms": sorted(PLAN.needed_swarms(question)),
            "figures": [figure for figure, of in FIGURES.items() if of == question],
        }
        for question in PLAN.asks
    }


def planned_chains():
    """Every chain of updates: runs as the paper counts them, and those trained for it alone."""
    return [
        {
            "group": group,
            **chain.to_dict(),
            "counted": UPDATES.total_runs(chain),
            "trained": UPDATES.new_runs(chain),
        }
        for group, chains in UPDATES.groups().items()
        for chain in chains
    ]
