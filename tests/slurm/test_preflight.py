"""`snakemake --profile slurm preflight` on two nodes with declared GPUs, by gloo on their CPUs."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from olmix.preflight.tolerance import TOLERANCE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two_nodes(make_cluster):
    return make_cluster(nodes=2, gpus=2, cpus=4)


@pytest.fixture(scope="module")
def clone(tmp_path_factory, request):
    """The repository's files with a scale whose targets take two nodes, a process on each GPU."""
    folder = tmp_path_factory.mktemp("preflight") / "clone"
    left_out = shutil.ignore_patterns(".*", "results", "figures", "tests", "__pycache__")
    shutil.copytree(request.config.rootpath, folder, ignore=left_out)
    scale = {
        "extends": "smoke",
        "models": {"target": {"gpu": 4, "nodes": 2}},
        "hardware": {"devices": 4},
    }
    (folder / "config" / "scales" / "two.yaml").write_text(yaml.safe_dump(scale))
    return folder


def snakemake(cluster, clone, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments, "--config", "scale=two"],
        cwd=clone,
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # for a machine that is busy with other work
    )
    logs = "".join(log.read_text() for log in clone.glob("results/two/logs/measure_model/*"))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    return done.stdout + done.stderr


def test_preflight_measures_every_model_through_the_profile_and_cost_uses_it(two_nodes, clone):
    printed = snakemake(
        *(two_nodes, clone, "--profile", "slurm", "preflight", "--retries", "0"),
        *("--slurm-status-command", "squeue", "--slurm-no-account", "--latency-wait", "5"),
        *("--slurm-init-seconds-before-status-checks", "2"),
    )
    jobs = {job["Comment"].split("wildcards_")[-1].strip(): job for job in two_nodes.records()}
    assert set(jobs) == {"1m", "15m", "30m", "60m", "target", "target-one_node"}
    assert {name: job["NumNodes"] for name, job in jobs.items() if job["NumNodes"] != "1"} == {
        "target": "2"
    }
    found = {
        name: json.loads((clone / f"results/two/preflight/models/{name}.json").read_text())
        for name in jobs
    }
    for name, processes in (("target", 4), ("target-one_node", 2), ("30m", 1)):
        assert found[name]["of"][3] == processes
        assert found[name]["backend"] == ("gloo" if processes > 1 else None)
        for precision, difference in found[name]["differences"].items():
            assert difference < TOLERANCE[precision]
    # The nodes' GPUs are links: it is said, and what their CPUs did instead is not reckoned with.
    assert "target: torch sees no GPU in its job" in printed
    assert "Not in it, and trained at your own risk: target." in printed
    table = json.loads((clone / "results/two/preflight/hardware.json").read_text())
    seconds = {name: entry["step_seconds"] for name, entry in table["measured"].items()}
    proxies = ("1m", "15m", "30m", "60m")
    assert seconds == {name: found[name]["step_seconds"] for name in proxies}
    told = snakemake(two_nodes, clone, "cost", "--cores", "1")
    assert "Not assumed but measured by `snakemake preflight`: 1m, 15m, 30m, 60m." in told
