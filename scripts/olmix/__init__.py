"""Olmix: choose a language model's data mix, and update it when its domains change."""

__version__ = "0.4.0"
