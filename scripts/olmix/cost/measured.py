"""What `snakemake preflight` has measured, in place of what a scale's ``hardware`` assumes.

``results/<scale>/preflight/hardware.json`` is written by the preflight and read here, whenever the
workflow is started: every job's request and `snakemake cost` then reckon with it. Without the file
the scale's own table holds. Resources only: nothing is run again because of it.
"""

from pathlib import Path

from olmix.files import read_json
from olmix.study.scale import Scale

__all__ = ["measured_file", "with_measured"]


def measured_file(scale: str) -> Path:
    """Where the preflight of a scale writes its table."""
    return Path("results") / scale / "preflight" / "hardware.json"


def with_measured(scale: Scale) -> Scale:
    """The scale with the measured table over its ``hardware``, if there is one."""
    path = measured_file(scale.name)
    if not path.is_file():
        return scale
    hardware = scale["hardware"] | read_json(path)
    return Scale(scale.name, scale.content | {"hardware": hardware})
