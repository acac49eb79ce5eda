"""GPUs and nodes that jobs ask for, in both of SLURM's ways."""

from pathlib import Path

import pytest

from olmix.cost.gpu_requests import GpuRequest, training_requests
from olmix.errors import OlmixError
from olmix.study.scale import Scale, load_scale

SCALES = Path(__file__).resolve().parents[2] / "config" / "scales"


def scale(**model) -> Scale:
    return Scale("mine", {"models": {"target": model}})


def test_the_papers_models():
    paper = load_scale(SCALES, "paper")
    by_gpu, by_gres = (training_requests(paper, how) for how in ("gpu", "gres"))
    for proxy in ("1m", "15m", "30m", "60m"):
        assert by_gpu[proxy] == GpuRequest(processes=1, gpu=1)
        assert by_gres[proxy] == GpuRequest(processes=1, gres="gpu:1")
    four_nodes = {"processes": 8, "nodes": 4, "tasks": 4, "mpi": "srun"}
    assert by_gpu["target"] == GpuRequest(
        **four_nodes, gpu=32, slurm_extra="--ntasks-per-node=1 --gpus-per-node=8"
    )
    assert by_gres["target"] == GpuRequest(
        **four_nodes, gres="gpu:8", slurm_extra="--ntasks-per-node=1"
    )


@pytest.mark.parametrize("gpu_request", ["gpu", "gres"])
@pytest.mark.parametrize("name", ["tiny", "smoke"])
def test_a_scale_without_gpus_asks_for_none(name, gpu_request):
    small = load_scale(SCALES, name)
    assert set(training_requests(small, gpu_request).values()) == {GpuRequest(0)}


def test_several_gpus_of_one_node_need_no_srun():
    (request,) = training_requests(scale(gpu=4), "gpu").values()
    assert request == GpuRequest(processes=4, nodes=1, gpu=4)


def test_fewer_processes_than_gpus_when_told_so():
    (request,) = training_requests(scale(gpu=32, nodes=4, processes_per_node=2), "gpu").values()
    assert (request.processes, request.gpu, request.nodes) == (2, 32, 4)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"gpu": 30, "nodes": 4}, "model target: 30 GPUs on 4 nodes"),
        ({"gpu": 0, "nodes": 2}, "0 GPUs on 2 nodes"),
    ],
)
def test_unequal_nodes_are_refused(model, message):
    with pytest.raises(OlmixError, match=message):
        training_requests(scale(**model), "gpu")


def test_proxies_stay_on_one_node():
    many = Scale("mine", {"models": {"30m": {"gpu": 16, "nodes": 2}}})
    with pytest.raises(OlmixError, match="model 30m: 2 nodes; only the target"):
        training_requests(many, "gpu")
