"""Swarms of mixes: drawn around a prior, or laid out by a design (§3.3, RQ3)."""
