"""Main results: every strategy through all updates (§5.1)."""
