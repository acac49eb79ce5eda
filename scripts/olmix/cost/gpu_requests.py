"""What a job that trains asks its scheduler for: GPUs, nodes and tasks.

A scale says how many GPUs and nodes a model takes; whether a job asks for them by SLURM's
``--gpus`` or by ``--gres`` is the cluster's affair and comes from the config.
"""

from dataclasses import dataclass
from typing import Any

from olmix.errors import OlmixError
from olmix.study.scale import Scale

__all__ = ["GpuRequest", "training_requests"]


@dataclass(frozen=True)
class GpuRequest:
    """Resources by the names that Snakemake's SLURM plugin gives them; None is not asked for.

    ``processes`` is ours: how many processes train on each node, one per GPU; 0 is none of the
    GPUs.
    """

    processes: int
    nodes: int = 1
    gpu: int | None = None
    gres: str | None = None
    tasks: int | None = None
    mpi: str | None = None
    slurm_extra: str | None = None


def training_requests(scale: Scale, gpu_request: str) -> dict[str, GpuRequest]:
    """What training each model of a scale asks for; ``gpu_request`` is ``gpu`` or ``gres``."""
    requests = {}
    for name, model in scale["models"].items():
        where, nodes = f"scale '{scale.name}', model {name}", model.get("nodes", 1)
        if nodes > 1 and name != "target":
            raise OlmixError(f"{where}: {nodes} nodes; only the target is trained on several")
        requests[name] = _training(model, gpu_request, where)
    return requests


def _training(model: dict[str, Any], gpu_request: str, where: str) -> GpuRequest:
    gpus, nodes = model["gpu"], model.get("nodes", 1)
    if nodes > 1 and (gpus == 0 or gpus % nodes):
        raise OlmixError(
            f"{where}: {gpus} GPUs on {nodes} nodes; expected the same number on each, at least one"
        )
    if gpus == 0:
        return GpuRequest(0)
    request = _gpus(gpus, nodes, gpu_request)
    processes = model.get("processes_per_node", gpus // nodes)
    if nodes == 1:
        return GpuRequest(processes, **request)
    # One task per node, which starts the processes there. With `mpi` the plugin leaves srun to the
    # job. `--gpus` counts the whole job: without the second option nodes could get unequal shares.
    extra = "--ntasks-per-node=1"
    if gpu_request == "gpu":
        extra += f" --gpus-per-node={gpus // nodes}"
    return GpuRequest(processes, nodes, tasks=nodes, mpi="srun", slurm_extra=extra, **request)


def _gpus(gpus: int, nodes: int, gpu_request: str) -> dict[str, Any]:
    """The request for GPUs: of the job by ``gpu``, of each node by ``gres``."""
    return {"gpu": gpus} if gpu_request == "gpu" else {"gres": f"gpu:{gpus // nodes}"}
