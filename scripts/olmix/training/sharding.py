"""How weights are spread over the processes of a run, and what that sends between nodes.

Knows no torch: the command line and the cost report choose by these names and numbers.
"""

__all__ = ["GRADIENT_BYTES", "SHARDINGS", "between_nodes", "shards_of"]

SHARDINGS = {
    "none": "every process holds all weights (DDP)",
    "node": "those of a node share them, nodes hold copies of one another (HSDP)",
    "kept": "as node, and what a layer gathers for the forward pass stays for the backward",
    "all": "all processes share them (FSDP)",
}

WEIGHT_BYTES, GRADIENT_BYTES = 2, 4
"""Weights are gathered in bfloat16, gradients added up in float32."""


def shards_of(sharding: str, processes: int, on_node: int) -> int:
    """Into how many parts the weights are cut; one process or one part is the plain model."""
    return {"none": 1, "all": processes}.get(sharding, on_node)


def between_nodes(sharding: str, parameters: int, nodes: int, micro_batches: int) -> float:
    """Bytes that each node receives from others in a step.

    Copies exchange the sums of gradients: two ways of a ring. Weights shared by all are gathered
    twice for every micro batch, forward and backward, and gradients go one way.
    """
    from_others = parameters * (nodes - 1) / nodes
    if sharding == "all":
        return from_others * (2 * micro_batches * WEIGHT_BYTES + GRADIENT_BYTES)
    return from_others * 2 * GRADIENT_BYTES
