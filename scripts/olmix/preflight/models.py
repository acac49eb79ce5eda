"""Which models a preflight measures: the scale's, and those on several nodes also on one."""

from typing import Any

from olmix.cost.compute import run_size
from olmix.study.scale import Scale

__all__ = ["preflight_scale"]


def preflight_scale(scale: Scale) -> Scale:
    """The scale with, for every model on several nodes, ``<model>-one_node`` with its share."""
    models = {}
    for name, model in scale["models"].items():
        models[name] = model
        if (nodes := model.get("nodes", 1)) > 1:
            models[f"{name}-one_node"] = _on_one(model, nodes)
    return Scale(scale.name, scale.content | {"models": models})


def _on_one(model: dict[str, Any], nodes: int) -> dict[str, Any]:
    """A model with one node's GPUs and rows of the batch, and as many steps."""
    size = run_size(model)
    share = {"gpu": model["gpu"] // nodes, "nodes": 1}
    return model | share | {
        "batch_size": size.batch_size // nodes,
        "tokens": size.tokens // nodes,
    }  # fmt: skip
