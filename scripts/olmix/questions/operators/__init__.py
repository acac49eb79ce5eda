"""Each update operator alone (App. on operators)."""
