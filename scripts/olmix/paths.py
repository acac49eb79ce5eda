"""Where this repository keeps what the library reads besides its arguments."""

from pathlib import Path

__all__ = ["CONFIG", "REPOSITORY"]

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = REPOSITORY / "config"
