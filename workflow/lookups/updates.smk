# What the rules of the evolving-domain study look up: chains, stages, pools.


def lineage_of(wildcards):
    """What a stage's jobs take from the sequence of updates up to and with it."""
    return LINEAGES[updates_file(wildcards.group)][wildcards.stage]


def previous_mixes(wildcards):
    """The mixes of the stage before: what a stage's chains start from."""
    before = GROUPS[wildcards.group].previous(wildcards.stage)
    return f"{RESULTS}/update_mixes/{wildcards.group}-{before}"


def active_chains(wildcards):
    """The chains that have a mix at a stage: full recomputation only has its last one."""
    updates = GROUPS[wildcards.group]
    chains = updates.groups()[wildcards.group]
    last = wildcards.stage == updates.stages[-1]
    return [chain for chain in chains if last or chain.strategy not in FROM_SCRATCH]


def chains_with(wildcards, count):
    """(chain, runs) of the chains that train something at a stage; ``count`` names the kind."""
    updates = GROUPS[wildcards.group]
    chains = updates.groups()[wildcards.group]
    counted = [
        (chain.to_dict(), getattr(updates, count)(chain, wildcards.stage))
        for chain in chains
    ]
    return [(chain, runs) for chain, runs in counted if runs]


def auto_budgets(wildcards):
    """(chain, budget) of the chains that choose by themselves what to recompute."""
    return [
        (chain.to_dict(), UPDATES.budget(chain, wildcards.stage))
        for chain in UPDATES.groups()[wildcards.group]
        if UPDATES.probe_runs(chain, wildcards.stage)
    ]


def stage_number(wildcards):
    """The place of a stage in its sequence of updates."""
    return GROUPS[wildcards.group].stages.index(wildcards.stage)


def has_probe(wildcards):
    """Whether some chain of the group probes at a stage."""
    return f"{wildcards.group}-{wildcards.stage}-probe" in PLAN.swarms


def choices_of(wildcards):
    """The choices of auto reuse at a stage, if a chain makes one."""
    folder = f"{RESULTS}/choose_recomputed"
    return (
        {"choices": f"{folder}/{wildcards.group}-{wildcards.stage}.json"}
        if has_probe(wildcards)
        else {}
    )


def own_tables(group, stages):
    """The collected swarms that a group's chains trained for themselves, by stage."""
    swarms = {stage: f"{group}-{stage}" for stage in stages}
    return {
        stage: tables_of([name])[0]
        for stage, name in swarms.items()
        if name in PLAN.swarms
    }


def earlier_tables(wildcards):
    """Those of the stages before, and of their probes."""
    before = GROUPS[wildcards.group].stages[: stage_number(wildcards)]
    names = [name for stage in before for name in (stage, f"{stage}-probe")]
    return own_tables(wildcards.group, names)


def stage_tables(wildcards):
    """That of a stage."""
    return own_tables(wildcards.group, [wildcards.stage])


def stage_pools(wildcards):
    """The pools that chains may draw from up to and with a stage, by stage."""
    updates = GROUPS[wildcards.group]
    pools = {
        stage: updates.pool(stage)
        for stage in updates.stages[: stage_number(wildcards) + 1]
    }
    return {
        stage: tables_of([name])[0]
        for stage, name in pools.items()
        if name in PLAN.swarms
    }


def stage_input(wildcards):
    """What else the proposals of a stage wait for: previous mixes, probe and choices."""
    found = dict(choices_of(wildcards))
    if has_probe(wildcards):
        found["probe"] = tables_of([f"{wildcards.group}-{wildcards.stage}-probe"])[0]
    if wildcards.stage != INITIAL:
        found["previous"] = previous_mixes(wildcards)
    return found


def update_answer_input(groups):
    """What the analysis of some groups reads: target tables, final mixes, target runs if any."""
    last = UPDATES.stages[-1]
    targets = [f"{group}-target" for group in groups]
    return {
        "data": f"{RESULTS}/build_domains",
        "tables": tables_of(targets),
        "proposals": [f"{RESULTS}/update_mixes/{group}-{last}" for group in groups],
        "runs": [
            f"{RESULTS}/train_targets/{t}/{shard}"
            for t in targets
            for shard in shards_of(t)
            if is_made("checkpoints")
        ],
    }


def single_answer_input(question):
    """What the analysis of the single updates of a question reads: tables, and mixes."""
    names = [
        name for name in SINGLE_UPDATES if f"{name}-target" in PLAN.reads[question]
    ]
    return {
        "data": f"{RESULTS}/build_domains",
        "tables": tables_of(PLAN.reads[question]),
        "proposals": [
            f"{RESULTS}/update_mixes/{SINGLE_UPDATES[name].own}" for name in names
        ],
    }


def single_updates_of(question):
    """File, stage and pool of the single updates of a question, by name."""
    return {
        name: {
            "file": update.file,
            "stage": update.stage,
            "pool": update.pool(update.stage),
        }
        for name, update in SINGLE_UPDATES.items()
        if update.target in PLAN.reads[question]
    }


def chain_costs(group):
    """(chain, proxy runs over all stages) of every chain of a group."""
    return [
        (chain.to_dict(), UPDATES.total_runs(chain))
        for chain in UPDATES.groups()[group]
    ]
