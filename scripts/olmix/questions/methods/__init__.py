"""Mixing methods side by side."""
