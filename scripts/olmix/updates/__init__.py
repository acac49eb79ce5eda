"""Updates of the domain set, strategies that answer them, and when reuse is safe (§4)."""
