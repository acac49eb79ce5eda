"""How long a job may run on a SLURM cluster, by what `sinfo` says of its partitions."""

import math
import shutil
import subprocess

from olmix.errors import OlmixError

__all__ = ["check_attempts", "check_time", "minutes_of", "partition_limits"]


def minutes_of(limit: str) -> float:
    """Minutes of a limit as SLURM writes it: ``2-00:00:00``, ``12:00:00``, ``30:00``, infinite."""
    if limit in ("infinite", "UNLIMITED"):
        return math.inf
    days, _, clock = limit.rpartition("-")
    try:
        parts = [int(part) for part in clock.split(":")]
        hours, minutes, seconds = [0] * (3 - len(parts)) + parts
        return 1440 * int(days or 0) + 60 * hours + minutes + seconds / 60
    except ValueError:
        raise OlmixError(f"time limit {limit!r}, expected one like 1-00:00:00") from None


def partition_limits() -> dict[str, float]:
    """Minutes that a job may run, by partition; the default one also under ``""``.

    None where `sinfo` is not there or does not answer: then nothing is known.
    """
    if shutil.which("sinfo") is None:
        return {}
    command = ["sinfo", "--noheader", "--format=%P %l"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    limits: dict[str, float] = {}
    for line in done.stdout.splitlines():
        name, _, limit = line.strip().partition(" ")
        limits[name.rstrip("*")] = minutes_of(limit.strip())
        if name.endswith("*"):
            limits[""] = minutes_of(limit.strip())
    return limits


def check_time(rule: str, minutes: float, partition: str, limits: dict[str, float]) -> None:
    """Refuse a job that asks for more minutes than its partition grants: it would wait for ever."""
    allowed = limits.get(partition, math.inf)
    if minutes > allowed:
        raise OlmixError(
            f"rule {rule} asks for {minutes:g} minutes, partition '{partition or 'default'}' "
            f"grants {allowed:g}; lower longest_job in the scale's hardware: jobs go on in several"
        )


def check_attempts(rule: str, needed: float, granted: float, attempts: int) -> None:
    """Refuse a job whose minutes do not fit into all its attempts, each going on from the last.

    Nothing can be said of a job that asks for no minutes (0): its partition's own limit holds.
    """
    if granted and needed > granted * attempts:
        raise OlmixError(
            f"rule {rule}: a job takes about {needed:,.0f} minutes, and has {attempts} attempts "
            f"of {granted:g}; raise longest_job in the scale's hardware, or --retries "
            f"(slurm/config.yaml) to {math.ceil(needed / granted) - 1} or more"
        )
