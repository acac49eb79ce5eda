"""Fewer runs: what a better law buys, trained and not only fitted."""
