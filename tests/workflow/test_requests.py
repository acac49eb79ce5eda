"""What jobs ask for at the scale `paper`: of SLURM, by the sbatch line, and of a workstation."""

import json
import shutil
import sys

import pytest

pytestmark = pytest.mark.slow

# A job of each rule that could start at once, if what it reads were there (folders will do).
JOBS = {
    "train_proxies": "results/paper/train_proxies/topics/0",
    "train_targets": "results/paper/train_targets/rq1-target/0",
    "fit_models": "results/paper/fit_models/rq5",
}
READ = [
    "results/paper/build_domains",
    "results/paper/collect_swarm/topics/ratios.csv",
    "results/paper/collect_swarm/topics/metrics.csv",
    "results/paper/list_runs/topics",
    "results/paper/list_runs/rq1-target",
]

# Notes its arguments, and refuses the job so that nobody waits for it.
SBATCH = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["NOTED"], "a") as noted:
    noted.write(json.dumps(sys.argv[1:]) + "\\n")
sys.exit("noted")
"""


def requests(clone, monkeypatch, gpu_request: str | None) -> dict[str, dict[str, str]]:
    """The options of the sbatch line of each rule's job, on a cluster that wants GPUs so."""
    if gpu_request is not None:
        with (clone.folder / "slurm" / "workflow.yaml").open("a") as settings:
            settings.write(f"gpu_request: {gpu_request}\n")
    for name in READ:
        (clone.folder / name).mkdir(parents=True)
    monkeypatch.setenv("NOTED", str(clone.folder / "noted"))
    install_programs(clone)
    options = submitted(clone, JOBS.values(), JOBS, scale="paper")
    by_rule = {found["--comment"].split("_wildcards")[0]: found for found in options}
    return {rule: by_rule[f"rule_{rule}"] for rule in JOBS}


def install_programs(clone) -> None:
    """A scheduler that notes what it is asked for."""
    programs = clone.folder / "bin"
    programs.mkdir()
    for name, text in {"sbatch": SBATCH, "sacct": "#!/bin/sh\n", "squeue": "#!/bin/sh\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)


def submitted(clone, targets, rules, scale: str, config: tuple[str, ...] = ()) -> list[dict]:
    """The options of every sbatch line when ``targets`` are made by ``rules`` alone."""
    noted = clone.folder / "noted"
    noted.unlink(missing_ok=True)
    done = clone.snakemake(
        *("--profile", "slurm", *targets, "--allowed-rules", *rules, "--retries", "1"),
        *("--default-resources", "slurm_partition=main", "--slurm-no-account"),
        *("--slurm-init-seconds-before-status-checks", "1"),
        *("--max-jobs-per-timespan", "100/1s"),
        scale=scale, config=config,
    )  # fmt: skip
    assert noted.is_file(), done.stdout + done.stderr
    return [parsed(json.loads(line)) for line in noted.read_text().splitlines()]


# Appended to the Snakefile: every job of a dry run, with what it reads, makes and asks for.
NOTE_JOBS = """
import atexit, json

def note_jobs():
    jobs = []
    for job in workflow.dag.jobs:
        place = next((v for k, v in job.wildcards.items() if k in ("proxies", "targets")), None)
        jobs.append({
            "rule": job.rule.name,
            # To a dry run everything is local.
            "local": job.rule.name in workflow._localrules or job.rule.norun,
            "model": JOBS.swarm(place).spec.model if place else None,
            "reads": [str(path) for path in job.input],
            "makes": [str(path) for path in job.output],
            "threads": job.threads,
            "minutes": job.resources.get("runtime"),
            "mem_mb": job.resources.get("mem_mb"),
        })
    Path("jobs.json").write_text(json.dumps(jobs))

if workflow.is_main_process:
    atexit.register(note_jobs)
"""


def first_jobs(clone) -> list[dict]:
    """The first job of each kind (rule and model) that goes to the scheduler in a rehearsal."""
    snakefile = clone.folder / "Snakefile"
    before = snakefile.read_text()
    snakefile.write_text(before + NOTE_JOBS)
    done = clone.snakemake("-n", scale="rehearsal", config=("ours=true",))
    snakefile.write_text(before)
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = json.loads((clone.folder / "jobs.json").read_text())
    first: dict[tuple, dict] = {}
    for job in jobs:
        if not job["local"]:
            first.setdefault((job["rule"], job["model"]), job)
    made_by = {path: job for job in jobs for path in job["makes"]}

    def after(job: dict) -> set[str]:
        """The rules that it waits for, those behind local ones too."""
        found: set[str] = set()
        for before in (made_by[path] for path in job["reads"] if path in made_by):
            found |= {before["rule"]} | (after(before) if before["local"] else set())
        return found

    return [job | {"after": after(job)} for job in first.values()]


def apart(jobs: list[dict]) -> list[list[dict]]:
    """Jobs in groups none of whose rules reads what another of the group makes."""
    groups: list[list[dict]] = []
    for job in jobs:
        for group in groups:
            rules = {other["rule"] for other in group}
            read = set().union(*(other["after"] for other in group))
            if job["rule"] not in read and not job["after"] & rules:
                group.append(job)
                break
        else:
            groups.append([job])
    return groups


def test_the_first_job_of_every_kind_is_submitted_with_what_its_rule_asks_for(clone, monkeypatch):
    jobs = first_jobs(clone)
    models = {(job["rule"], job["model"]) for job in jobs if job["model"]}
    assert models == {("train_targets", "target")} | {
        ("train_proxies", model) for model in ("1m", "15m", "30m", "60m")
    }
    install_programs(clone)
    monkeypatch.setenv("NOTED", str(clone.folder / "noted"))
    for group in apart(jobs):
        for name in ("results", "figures", "data"):
            shutil.rmtree(clone.folder / name, ignore_errors=True)
        for path in {path for job in group for path in job["reads"]}:
            if not (clone.folder / path).exists():
                (clone.folder / path).mkdir(parents=True)
        rules = list(dict.fromkeys(job["rule"] for job in group))
        targets = [job["makes"][0] for job in group]
        options = submitted(clone, targets, rules, "rehearsal", ("ours=true",))
        found = {
            (line["--comment"].split("_wildcards")[0], line["-t"], line["--mem"],
             line["--cpus-per-task"])
            for line in options
        }  # fmt: skip
        for job in group:
            wanted = tuple(str(job[key]) for key in ("minutes", "mem_mb", "threads"))
            assert (f"rule_{job['rule']}", *wanted) in found, job["rule"]


def parsed(line: list[str]) -> dict[str, str]:
    """Options and values of an sbatch line, given as --a=b or as -a b."""
    words, found = iter(line), {}
    for word in words:
        name, equals, value = word.partition("=")
        takes_value = name in ("-t", "-D", "--mem", "--job-name", "--output", "--comment")
        found[name] = value if equals else next(words) if takes_value else ""
    return found


def asked(options: dict[str, str]) -> dict[str, str]:
    """Of them, those about GPUs, nodes and tasks."""
    about = ("gpu", "gres", "nodes", "tasks", "cpus")
    return {k: v for k, v in options.items() if k.startswith("--") and any(a in k for a in about)}


def test_gpus_by_number_unless_told_otherwise(clone, monkeypatch):
    found = requests(clone, monkeypatch, None)
    one = {"--cpus-per-task": "8", "--gpus": "1"}
    assert asked(found["train_proxies"]) == one | {"--nodes": "1"}
    assert asked(found["train_targets"]) == {
        "--nodes": "4",
        "--ntasks": "4",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "64",
        "--gpus": "32",
        "--gpus-per-node": "8",
    }
    assert asked(found["fit_models"]) == {"--ntasks": "1", "--cpus-per-task": "1"}
    for options in found.values():
        assert int(options["-t"]) > 0
        assert int(options["--mem"]) > 0


def test_gpus_by_generic_resource(clone, monkeypatch):
    found = requests(clone, monkeypatch, "gres")
    one = {"--cpus-per-task": "8", "--gres": "gpu:1"}
    assert asked(found["train_proxies"]) == one | {"--nodes": "1"}
    assert asked(found["train_targets"]) == {
        "--nodes": "4",
        "--ntasks": "4",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "64",
        "--gres": "gpu:8",
    }
    assert asked(found["fit_models"]) == {"--ntasks": "1", "--cpus-per-task": "1"}


def test_a_workstation_trains_a_target_alone(clone):
    for name in READ:
        (clone.folder / name).mkdir(parents=True)
    # The run that is listed has no settings, so the job fails; its log says what it started.
    listed = clone.folder / "results/paper/list_runs/rq1-target/0.json"
    listed.write_text(json.dumps([{"folder": "../../runs/one", "names": ["one"]}]))
    clone.snakemake(
        *("--profile", "profiles/gpu", JOBS["train_targets"], "--allowed-rules", *JOBS),
        scale="paper",
    )
    log = clone.folder / "results" / "paper" / "logs" / "train_targets" / "rq1-target" / "0.log"
    assert "--nodes 1 --processes 8 " in log.read_text()


def test_several_nodes_are_refused_on_a_laptop_before_anything_starts(clone):
    done = clone.snakemake("figures/main_results.pdf", scale="paper")
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "4 nodes are asked for outside a SLURM job; use `--profile slurm`" in said
    assert "Traceback" not in said
    assert not (clone.folder / "results").exists()
    # The list of jobs is for everyone.
    assert clone.planned("figures/main_results.pdf", scale="paper")["train_targets"] > 0
