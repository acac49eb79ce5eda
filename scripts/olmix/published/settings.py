"""What ``config/published.yaml`` says: where swarms are, how they are used, the paper's values."""

from pathlib import Path
from typing import Any

from olmix.config_files import check_keys, check_name, read_config
from olmix.errors import OlmixError

__all__ = ["load_settings"]

_KEYS = (
    "dataset",
    "revision",
    "local",
    "missing",
    "sources",
    "swarms",
    "updates",
    "regression",
    "laws",
    "proposed",
    "granularity",
    "design",
    "factors",
    "solvers",
    "final",
    "bootstrap",
    "mixes",
    "paper",
)
_SWARM_KEYS = ("folder", "runs", "virtual", "stage")
_PAPER_KEYS = ("id", "where", "what", "value", "tolerance")


def load_settings(path: str | Path) -> dict[str, Any]:
    """The settings, with every key known and every one there."""
    content = read_config(path)
    check_keys(content, _KEYS, _KEYS, where=str(path))
    for family in content["regression"].get("families", ()):
        check_name(family, f"{path}: regression.families")
    for name, swarm in content["swarms"].items():
        check_name(name, f"{path}: swarms")
        check_keys(swarm, _SWARM_KEYS, ("folder",), where=f"{path}: swarm '{name}'")
    ids = [entry.get("id") for entry in content["paper"]]
    for entry in content["paper"]:
        where = f"{path}: paper value '{entry.get('id')}'"
        check_keys(entry, _PAPER_KEYS, _PAPER_KEYS[:4], where=where)
        if ids.count(entry["id"]) > 1:
            raise OlmixError(f"{where} appears more than once")
    return content
