"""What SLURM is asked for: the sbatch line of every kind of job at the scale `paper`."""

import json
import os

import pytest

pytestmark = pytest.mark.slow

# Jobs of each rule that could start at once, if what they read were there.
JOBS = {
    "train_proxies": "results/paper/train_proxies/topics/0",
    "train_targets": "results/paper/train_targets/rq1-target/0",
    "evaluate_proxies": "results/paper/evaluate_proxies/sources/0",
    "evaluate_targets": "results/paper/evaluate_targets/rq7-target/0",
    "sample_swarm": "results/paper/sample_swarm/topics.csv",
}
READ = [
    "results/paper/build_domains",
    "results/paper/list_runs/topics",
    "results/paper/list_runs/rq1-target",
    "results/paper/train_proxies/sources/0",
    "results/paper/train_targets/rq7-target/0",
]

# Notes its arguments, and refuses the job so that nobody waits for it.
SBATCH = """#!/usr/bin/env python3
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
    programs = clone.folder / "bin"
    programs.mkdir()
    for name, text in {"sbatch": SBATCH, "sacct": "#!/bin/sh\n", "squeue": "#!/bin/sh\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NOTED", str(clone.folder / "noted"))
    done = clone.snakemake(
        *("--profile", "slurm", *JOBS.values(), "--allowed-rules", *JOBS, "--retries", "0"),
        *("--default-resources", "slurm_partition=main", "--slurm-no-account"),
        *("--slurm-init-seconds-before-status-checks", "1"),
        scale="paper",
    )
    assert (clone.folder / "noted").is_file(), done.stdout + done.stderr
    lines = [json.loads(line) for line in (clone.folder / "noted").read_text().splitlines()]
    options = [parsed(line) for line in lines]
    by_rule = {found["--comment"].split("_wildcards")[0]: found for found in options}
    return {rule: by_rule[f"rule_{rule}"] for rule in JOBS}


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
    assert asked(found["evaluate_proxies"]) == one
    assert asked(found["evaluate_targets"]) == one
    assert asked(found["train_targets"]) == {
        "--nodes": "4",
        "--ntasks": "4",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "8",
        "--gpus": "32",
        "--gpus-per-node": "8",
    }
    assert asked(found["sample_swarm"]) == {"--ntasks": "1", "--cpus-per-task": "1"}
    for options in found.values():
        assert int(options["-t"]) > 0
        assert int(options["--mem"]) > 0


def test_gpus_by_generic_resource(clone, monkeypatch):
    found = requests(clone, monkeypatch, "gres")
    one = {"--cpus-per-task": "8", "--gres": "gpu:1"}
    assert asked(found["train_proxies"]) == one | {"--nodes": "1"}
    assert asked(found["evaluate_proxies"]) == one
    assert asked(found["evaluate_targets"]) == one
    assert asked(found["train_targets"]) == {
        "--nodes": "4",
        "--ntasks": "4",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "8",
        "--gres": "gpu:8",
    }
    assert asked(found["sample_swarm"]) == {"--ntasks": "1", "--cpus-per-task": "1"}
