"""The claims scoreboard: what the paper says, what was measured here, and what follows."""
