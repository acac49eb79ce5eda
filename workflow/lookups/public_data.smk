# Public texts: what prepares them, and what is said of it before it starts.
import atexit
import os

from olmix.study.data_checks import check_declared
from olmix.study.data_sizes import preparing_limit, preparing_minutes
from olmix.study.disk import (
    checkpoints_need,
    data_needs,
    lacking_room,
    weights_need,
)
from olmix.study.public_data import (
    PublicData,
    data_plan,
    lacking_access,
    lacking_files,
)

PUBLIC = PublicData.open(SCALE, workflow.basedir)

# Once, not again in every job.
if workflow.is_main_process:
    try:
        check_declared(
            Path(workflow.basedir),
            CHECKED_UPDATES,
            [name for source in PUBLIC.sources.values() for name in source.domains],
            SCALE,
        )
    except OlmixError as error:
        raise WorkflowError(f"{PUBLIC.settings['sources']}: {error}")


def to_prepare():
    """Whether a job at hand fetches or tokenises text."""
    names = ("list_source", "download_source", "tokenize_source")
    dag = workflow.dag
    return dag is not None and any(
        job.rule.name in names and dag.needrun(job) for job in dag.jobs
    )


def tell_data_plan():
    """What will be downloaded, by size, licence and access."""
    if to_prepare():
        logger.info(data_plan(PUBLIC), extra={"quietness": Quietness.PROGRESS})


def lacking_here():
    """What the jobs at hand would not find, a sentence each."""
    # A dry run counts all its jobs as finished.
    jobs = list(workflow.dag.needrun_jobs(exclude_finished=False))
    sources = [j.wildcards.source for j in jobs if j.rule.name == "tokenize_source"]
    found = lacking_files(PUBLIC, {job.rule.name for job in jobs}, sources)
    asked = ("list_source", "download_source")
    fetched = [j.wildcards.source for j in jobs if j.rule.name in asked]
    found += lacking_access(PUBLIC, fetched, os.environ.get("HF_TOKEN"))
    return found + lacking_room([*data_needs_of(jobs), *training_needs_of(jobs)])


def data_needs_of(jobs):
    """Downloads and tokens that the jobs at hand will write."""

    def shards(rule):
        places = [job.wildcards for job in jobs if job.rule.name == rule]
        return [(place.source, int(place.shard)) for place in places]

    return data_needs(PUBLIC, shards("download_source"), shards("tokenize_source"))


def training_needs_of(jobs):
    """Final weights of the runs that the jobs at hand train, and checkpoints on the way."""
    runs = []
    for job in jobs:
        kind = job.rule.name.removeprefix("train_")
        if job.rule.name in ("train_proxies", "train_targets"):
            swarm = JOBS.swarm(job.wildcards[kind])
            runs.append((swarm.model["shape"], swarm.jobs[int(job.wildcards.shard)]))
    at_once = workflow.nodes or workflow.cores
    return [
        weights_need(runs, RESULTS),
        checkpoints_need([shape for shape, _ in runs], at_once, RESULTS),
    ]


def refuse_lacking():
    """Say before the first job, not after days of downloads, what is not there: a file, or room."""
    found = lacking_here()
    if found:
        raise WorkflowError("\n".join(found))


def end_dry_run():
    """A dry run has no hook of its own: what it would download stands at its end."""
    if workflow.dryrun and to_prepare():
        print(data_plan(PUBLIC))
        for line in lacking_here():
            print(f"REFUSED when it is not a dry run: {line}")


if workflow.is_main_process:
    atexit.register(end_dry_run)


wildcard_constraints:
    source="|".join(PUBLIC.sources),
