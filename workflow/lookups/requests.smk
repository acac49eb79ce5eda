# What jobs ask a machine for.


def job_size(swarm):
    """How many runs a swarm's jobs have at most, and how often a run is scored at most."""
    spec, model = PLAN.swarms[swarm], model_of(swarm)
    points = len(model.get("evaluate_at", ())) if spec.curve else 0
    return job_sizes(spec.size, model)[0], 1 + points


def cost_of(swarm):
    """What one of a swarm's runs takes."""
    return RunCost(PLAN.swarms[swarm].model, model_of(swarm), MACHINE)


@cache
def training_of(swarm):
    """Minutes, memory and micro batch of a job that trains some of a swarm's runs."""
    return cost_of(swarm).training_request(*job_size(swarm))


@cache
def evaluation_of(swarm):
    """Minutes and memory of a job that evaluates some of a swarm's runs."""
    return cost_of(swarm).evaluation_request(job_size(swarm)[0])


def training_gpus(swarm):
    """The GPUs and nodes that a job asks for which trains some of a swarm's runs."""
    return TRAINING_GPUS[PLAN.swarms[swarm].model]


def evaluation_gpus(swarm):
    """The GPU that a job asks for which evaluates some of them."""
    return EVALUATION_GPUS[PLAN.swarms[swarm].model]


def refuse_missing_nodes():
    """Say before the first job, not after the last proxy, that no target can be trained here."""
    if not workflow.local_exec:
        return
    for job in workflow.dag.needrun_jobs():
        if job.rule.name == "train_targets":
            try:
                check_nodes(job.resources.nodes)
            except OlmixError as error:
                raise WorkflowError(str(error))
