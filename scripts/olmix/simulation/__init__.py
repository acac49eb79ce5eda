"""Runs without training: a law of known form, drawn from a design, with noise."""
