# What is refused before the first job.


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


def training_minutes(job):
    """Minutes that a training job is expected to take, in all its attempts."""
    kind = job.rule.name.removeprefix("train_")
    swarm = JOBS.swarm(job.wildcards[kind])
    runs = swarm.jobs[int(job.wildcards.shard)]
    return 60 * runs * swarm.cost.hours(swarm.scored)


def expected_minutes(job):
    """Minutes that a long job is expected to take, in all its attempts; None if it is not known."""
    if job.rule.name in ("download_source", "label_topics", "tokenize_source"):
        return preparing_minutes(PUBLIC, job.rule.name, job.wildcards.source)
    return training_minutes(job)


LONG_JOBS = (
    "download_source",
    "label_topics",
    "tokenize_source",
    "train_proxies",
    "train_targets",
)


def refuse_long_jobs():
    """Say before the first job that SLURM would never start one: it asks for too much time."""
    if workflow.local_exec:
        return
    limits = partition_limits()
    for job in workflow.dag.needrun_jobs():
        if job.rule.name in LONG_JOBS:
            asked, needed = job.resources, expected_minutes(job)
            try:
                partition = asked.get("slurm_partition", "")
                check_time(job.rule.name, asked.runtime, partition, limits)
                if needed is not None:
                    attempts = job.restart_times + 1
                    check_attempts(job.rule.name, needed, asked.runtime, attempts)
            except OlmixError as error:
                raise WorkflowError(str(error))
