"""Figures: one function each, all in the style of `olmix.plots.style`."""
