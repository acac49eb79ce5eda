# Public texts: what prepares them, and what is said of it before it starts.
import atexit

from olmix.study.public_data import PublicData, data_plan

PUBLIC = PublicData.open(SCALE, workflow.basedir)


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


def end_dry_run():
    """A dry run has no hook of its own: what it would download stands at its end."""
    if workflow.dryrun and to_prepare():
        print(data_plan(PUBLIC))


if workflow.is_main_process:
    atexit.register(end_dry_run)


wildcard_constraints:
    source="|".join(PUBLIC.sources),
