"""The target's own request on a cluster of four nodes with eight declared GPUs each."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

NODES, GPUS = 4, 32
# Each node starts two of its eight processes: this machine has no GPUs and few cores.
PROCESSES_PER_NODE = 2
# Eight processes add the gradients of eight sequences, one process those of the whole batch: sums
# are rounded in another order and 80 steps of AdamW amplify that.
LOSS_TOLERANCE = 1e-3

PARTS = ("Snakefile", "workflow", "config", "scripts", "profiles", "slurm", "envs")
TRAINED = "results/nodes/train_targets/rq1-target/0"


@pytest.fixture(scope="module")
def nodes_cluster(make_cluster):
    return make_cluster(nodes=NODES, gpus=GPUS // NODES, cpus=8)


@pytest.fixture
def clone(tmp_path, request):
    """The repository's files, with a scale `nodes`: smoke, and a target on four nodes."""
    repository = request.config.rootpath
    for part in PARTS:
        (tmp_path / part).symlink_to(repository / part)
    (tmp_path / "config").unlink()
    subprocess.run(["cp", "-r", repository / "config", tmp_path / "config"], check=True)
    scales = tmp_path / "config" / "scales"
    scale = yaml.safe_load((scales / "smoke.yaml").read_text())
    hardware = {"gpu": GPUS, "nodes": NODES, "processes_per_node": PROCESSES_PER_NODE}
    scale["models"]["target"] |= hardware | {"threads": 2, "runs_per_job": 1}
    (scales / "nodes.yaml").write_text(yaml.safe_dump(scale, sort_keys=False))
    return tmp_path


def snakemake(clone: Path, environment: dict[str, str], *arguments: str, gpu_request: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments]
        + ["--config", "scale=nodes", f"gpu_request={gpu_request}"],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    logs = "".join(log.read_text() for log in (clone / "results").rglob("*-target/0.log"))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    return done.stdout + done.stderr


def losses_of_one_process(clone: Path, environment: dict[str, str]) -> list[dict]:
    """The same run in one process, from the list that the workflow made."""
    listed = clone / "results/nodes/list_runs/rq1-target/0.json"
    (entry,) = json.loads(listed.read_text())
    corpus = str((listed.parent / entry["corpus"]).resolve())
    alone = clone / "alone" / "runs.json"
    alone.parent.mkdir()
    alone.write_text(json.dumps([entry | {"folder": "run", "corpus": corpus}]))
    command = [sys.executable, "-m", "olmix", "train", "--runs", str(alone)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return json.loads((alone.parent / "run" / "run.json").read_text())["losses"]


@pytest.mark.parametrize("gpu_request", ["gpu", "gres"])
def test_four_nodes_train_a_target_as_one_process_does(nodes_cluster, clone, gpu_request):
    environment = nodes_cluster.environment
    before = {record["JobId"] for record in nodes_cluster.records()}
    local = ["results/nodes/list_runs/rq1-target", "--cores", "2"]
    snakemake(clone, environment, *local, gpu_request=gpu_request)
    through = ["--profile", "slurm", TRAINED, "--slurm-status-command", "squeue"]
    through += ["--slurm-no-account", "--slurm-init-seconds-before-status-checks", "2"]
    through += ["--latency-wait", "5", "--retries", "0"]
    snakemake(clone, environment, *through, gpu_request=gpu_request)

    (job,) = [record for record in nodes_cluster.records() if record["JobId"] not in before]
    assert job["JobState"] == "COMPLETED"
    assert job["NumNodes"] == str(NODES)
    assert "gres/gpu=32" in job["TRES"]
    details = nodes_cluster.run("scontrol", "show", "job", "--details", job["JobId"])
    granted = re.findall(r"Nodes=(\S+) .*?GRES=(\S+)", details)
    assert granted == [("n[1-4]", "gpu:8(IDX:0-7)")]

    (run,) = (clone / TRAINED).rglob("run.json")
    record = json.loads(run.read_text())
    assert record["provenance"]["processes"] == NODES * PROCESSES_PER_NODE
    assert record["provenance"]["sharded"]
    alone = losses_of_one_process(clone, environment)
    assert len(alone) == len(record["losses"]) > 5
    for together, one in zip(record["losses"], alone, strict=True):
        assert together["step"] == one["step"]
        assert together["loss"] == pytest.approx(one["loss"], rel=LOSS_TOLERANCE)
