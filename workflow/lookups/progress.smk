# Telling how far the training is, and what came of it.
import re
import time


def trainings():
    """The swarms that the jobs at hand train, finished ones too; none if nothing is to train."""
    jobs = [
        job
        for job in workflow.dag.jobs
        if job.rule.name in ("train_proxies", "train_targets")
    ]
    if not any(workflow.dag.needrun(job) for job in jobs):
        return []
    shards = {}
    for job in jobs:
        swarm = getattr(job.wildcards, job.rule.name.removeprefix("train_"))
        shards.setdefault(swarm, []).append(int(job.wildcards.shard))
    unlisted = {
        job.wildcards.swarm
        for job in workflow.dag.jobs
        if job.rule.name == "list_runs" and workflow.dag.needrun(job)
    }
    return [
        JOBS.swarm(swarm).watched(sorted(numbers), listed=swarm not in unlisted)
        for swarm, numbers in shards.items()
    ]


WATCH = []  # the one that is on, if any


def watch_training():
    """Tell from time to time how far the training is."""
    found = trainings()
    if found:
        write_plan(f"{RESULTS}/progress.json", found)
        WATCH.append(Watch(f"{RESULTS}/progress.json", tell_progress))
        WATCH[0].start()


STARTED = {}  # when the jobs began, and what a person will read of their outputs


def note_start():
    """Remember what is about to be made: figures, pages, answers, the board."""
    jobs = list(workflow.dag.needrun_jobs())
    outputs = [str(path) for job in jobs for path in job.output]
    wanted = re.compile(r"(figures/[^/]+\.pdf|results/[^/]+(\.csv)?|.*index\.html)$")
    STARTED["at"] = time.time()
    STARTED["made"] = sorted(path for path in outputs if wanted.match(path))


def tell_end():
    """What was made, how long it took, where to look and what is open."""
    seconds = time.time() - STARTED["at"]
    board = None if SCALE.of_own_text else "results/claims.csv"
    for line in closing_lines(STARTED["made"], seconds, board):
        tell_progress(line)


def tell_progress(line):
    """Through Snakemake, so that its --quiet holds."""
    logger.info(line, extra={"quietness": Quietness.PROGRESS})


def end_watch():
    """The last line, and no more."""
    for watch in WATCH:
        watch.stop()
