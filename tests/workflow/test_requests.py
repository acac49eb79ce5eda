"""What jobs ask for at the scale `paper`: of SLURM, by the sbatch line, and of a workstation."""

import json
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
    programs = clone.folder / "bin"
    programs.mkdir()
    for name, text in {"sbatch": SBATCH, "sacct": "#!/bin/sh\n", "squeue": "#!/bin/sh\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("NOTED", str(clone.folder / "noted"))
    done = clone.snakemake(
        *("--profile", "slurm", *JOBS.values(), "--allowed-rules", *JOBS, "--retries", "1"),
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
    assert asked(found["train_targets"]) == {
        "--nodes": "4",
        "--ntasks": "4",
        "--ntasks-per-node": "1",
        "--cpus-per-task": "8",
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
        "--cpus-per-task": "8",
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
