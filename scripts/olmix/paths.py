"""Where this repository keeps the library, and what the library reads besides its arguments."""

import os
from collections.abc import MutableMapping
from pathlib import Path

__all__ = ["CONFIG", "REPOSITORY", "lead_python_here"]

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = REPOSITORY / "config"


def lead_python_here(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let Python processes started from now on find this library before any that is installed.

    A Python that two clones share has the library of one of them installed.
    """
    library, set_before = str(Path(__file__).resolve().parents[1]), environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [library, set_before]))
