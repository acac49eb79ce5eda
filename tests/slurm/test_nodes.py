"""The target's own request on a cluster of four nodes with eight declared GPUs each."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from olmix.training.presets import PRESETS

pytestmark = pytest.mark.slow

NODES, GPUS, STEPS = 4, 32, 20
# Several processes add the gradients of parts of a batch, one process those of the whole: sums are
# rounded in another order, and 20 steps of AdamW amplify that.
LOSS_TOLERANCE = 1e-3

LISTED = "results/nodes/list_runs/rq1-target"
TRAINED = "results/nodes/train_targets/rq1-target"


@pytest.fixture(scope="module")
def nodes_cluster(make_cluster):
    return make_cluster(nodes=NODES, gpus=GPUS // NODES, cpus=8)


@pytest.fixture(scope="module")
def clone(nodes_cluster, tmp_path_factory, request):
    """The repository's files with a scale `nodes`, whose targets are listed and ready to train."""
    folder = tmp_path_factory.mktemp("nodes") / "clone"
    left_out = shutil.ignore_patterns(".*", "results", "figures", "tests", "__pycache__")
    shutil.copytree(request.config.rootpath, folder, ignore=left_out)
    shutil.copy(folder / "config/scales/smoke.yaml", folder / "config/scales/nodes.yaml")
    # This machine has no GPUs and few cores: each node starts one of its eight processes.
    change_target(folder, gpu=GPUS, nodes=NODES, processes_per_node=1, threads=2, sharding="all")
    preset = PRESETS["tiny-target"]
    tokens = STEPS * preset.batch_size * preset.sequence_length
    change_target(folder, runs_per_job=1, tokens=tokens)
    snakemake(nodes_cluster, folder, LISTED, "--cores", "2")
    return folder


def change_target(clone: Path, **settings: int | str) -> None:
    """Change what the scale says about the target."""
    path = clone / "config" / "scales" / "nodes.yaml"
    scale = yaml.safe_load(path.read_text())
    scale["models"]["target"] |= settings
    path.write_text(yaml.safe_dump(scale, sort_keys=False))


def snakemake(cluster, clone: Path, *arguments: str, gpu_request: str = "gpu") -> str:
    """Run Snakemake as a user of the cluster; what it prints."""
    config = ["--config", "scale=nodes", f"gpu_request={gpu_request}"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments, *config],
        cwd=clone,
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # for a machine that is busy with other work
    )
    logs = "".join(log.read_text() for log in clone.glob("results/nodes/logs/train_targets/*/*"))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    return done.stdout + done.stderr


def train(cluster, clone: Path, run: int, *more: str, gpu_request: str) -> tuple[list[dict], str]:
    """Train a target through the profile; the scheduler's records of its jobs, and the output."""
    before = {record["JobId"] for record in cluster.records()}
    output = snakemake(
        *(cluster, clone, "--profile", "slurm", f"{TRAINED}/{run}", "--retries", "1", *more),
        *("--slurm-status-command", "squeue", "--slurm-no-account", "--latency-wait", "5"),
        *("--slurm-init-seconds-before-status-checks", "2"),
        gpu_request=gpu_request,
    )
    jobs = [record for record in cluster.records() if record["JobId"] not in before]
    return sorted(jobs, key=lambda job: int(job["JobId"])), output


def check_granted(cluster, job: dict) -> None:
    assert (job["NumNodes"], job["NodeList"]) == (str(NODES), "n[1-4]")
    assert job["TresPerNode"] == "gres:gpu:8"
    assert "JOB_GRES=gpu:32" in cluster.run("scontrol", "show", "job", "--details", job["JobId"])


def check_run(cluster, clone: Path, number: int) -> None:
    """All processes together have trained it, to the losses of one."""
    (run,) = (clone / TRAINED / str(number)).rglob("run.json")
    record = json.loads(run.read_text())
    assert record["provenance"]["processes"] == NODES
    assert record["provenance"]["shards"] == NODES
    alone = losses_of_one_process(cluster, clone, number)
    assert len(alone) == len(record["losses"]) == STEPS
    for together, one in zip(record["losses"], alone, strict=True):
        assert together["step"] == one["step"]
        assert together["loss"] == pytest.approx(one["loss"], rel=LOSS_TOLERANCE)


def losses_of_one_process(cluster, clone: Path, number: int) -> list[dict]:
    """The same run in one process, from the list that the workflow made."""
    listed = clone / LISTED / f"{number}.json"
    (entry,) = json.loads(listed.read_text())
    corpus = str((listed.parent / entry["corpus"]).resolve())
    alone = clone / f"alone-{number}" / "runs.json"
    alone.parent.mkdir()
    alone.write_text(json.dumps([entry | {"folder": "run", "corpus": corpus}]))
    command = [sys.executable, "-m", "olmix", "train", "--runs", str(alone)]
    subprocess.run(command, env=cluster.environment, check=True, capture_output=True)
    return json.loads((alone.parent / "run" / "run.json").read_text())["losses"]


def test_four_nodes_train_a_target_as_one_process_does(nodes_cluster, clone):
    (job,), _ = train(nodes_cluster, clone, 0, gpu_request="gres")
    assert job["JobState"] == "COMPLETED"
    assert "TresPerJob" not in job
    check_granted(nodes_cluster, job)
    check_run(nodes_cluster, clone, 0)


def test_a_job_that_stops_itself_is_resumed_by_the_next_attempt(nodes_cluster, clone):
    no_time_at_first = ["--set-resources", "train_targets:runtime=(attempt-1)*30"]
    jobs, output = train(nodes_cluster, clone, 1, *no_time_at_first, gpu_request="gpu")
    assert [job["JobState"] for job in jobs] == ["FAILED", "COMPLETED"]
    assert "stopped before the time limit at step 1 of 20; start it again to go on" in output
    for job in jobs:
        assert job["TresPerJob"] == "gres:gpu:32"
        check_granted(nodes_cluster, job)
    check_run(nodes_cluster, clone, 1)

    # Other hardware, other requests: nothing is trained again.
    change_target(clone, gpu=2, nodes=1, threads=4)
    again = ["-n", f"{TRAINED}/1", "--set-resources", "train_targets:runtime=7"]
    dry = snakemake(nodes_cluster, clone, *again, gpu_request="gres")
    assert "Nothing to be done" in dry
