"""Main results under tight caps and at low budgets."""
