"""How far runs on the same mix differ."""
