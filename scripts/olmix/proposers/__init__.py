"""Proposers: from a fitted surrogate, or a swarm, to a mix (§2.2 step 3)."""
