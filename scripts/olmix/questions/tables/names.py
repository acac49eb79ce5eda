"""The names of the paper's descriptive tables, known before any of them is made."""

__all__ = ["TABLES"]

TABLES = (
    "domain_updates",
    "domain_sizes",
    "eval_suite",
    "model_architectures",
    "design_choices",
    "cost_full_recomputation",
    "cost_swarm_reuse",
    "cost_full_reuse",
    "cost_partial_reuse",
)
