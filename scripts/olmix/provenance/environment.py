"""What a file was made with: commit, versions, machine. Every job's log begins with it."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["commit", "environment", "environment_line", "read_environment"]

_PACKAGES = ("numpy", "scipy", "cvxpy", "lightgbm", "scikit-learn", "torch", "snakemake")
_MARK = "made with "


@cache
def commit() -> str | None:
    """The commit of this code, ``-dirty`` if files differ from it; None outside a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "--no-optional-locks", "describe"]
    command += ["--always", "--dirty", "--abbrev=40", "--exclude", "*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def environment() -> dict[str, Any]:
    """Commit, versions and machine, here and now."""
    return {
        "commit": commit(),
        "versions": {package: _version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "host": platform.node(),
        "system": platform.platform(),
        "slurm_job": os.environ.get("SLURM_JOB_ID"),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def environment_line() -> str:
    """The environment as one line of a log, without its line end."""
    return _MARK + json.dumps(environment())


def read_environment(log: str | Path) -> dict[str, Any] | None:
    """The last environment a log tells of; None if there is no log, or none in it."""
    try:
        with Path(log).open(encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.startswith(_MARK)]
        return json.loads(lines[-1].removeprefix(_MARK)) if lines else None
    except (FileNotFoundError, json.JSONDecodeError):
        return None
