"""How far the losses of a small run may be from those of one process on a CPU."""

__all__ = ["TOLERANCE"]

TOLERANCE = {"float32": 1e-3, "bfloat16": 2e-2}
"""Largest difference of a loss from the CPU's, as a share of it. In float32 sums are rounded in
another order, which 20 steps of AdamW amplify; bfloat16 has 8 bits."""
