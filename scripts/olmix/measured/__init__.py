"""Laws measured on runs that somebody else trained and released, with their noise."""
