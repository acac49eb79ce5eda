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
