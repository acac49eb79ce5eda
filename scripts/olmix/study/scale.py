"""A scale: model shapes, tokens, domains, tasks, swarm sizes and seeds of every question."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.config_files import read_config
from olmix.errors import OlmixError

__all__ = ["NOTICES", "Scale", "load_scale"]

# What everything made with an engine must say, where that is not plain training.
NOTICES = {"simulate": "SIMULATED: a known law plus noise, no model was trained"}


@dataclass(frozen=True)
class Scale:
    """The contents of one file of ``config/scales/``, by attribute where it is used most."""

    name: str
    content: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        """One top-level setting."""
        if key not in self.content:
            raise OlmixError(f"scale '{self.name}' has no setting '{key}'")
        return self.content[key]

    @property
    def proxy(self) -> str:
        """The name of the proxy model."""
        return self["proxy"]

    @property
    def notice(self) -> str | None:
        """What every figure and summary made at this scale says on its face; None for training."""
        return NOTICES.get(self["engine"])

    def model(self, name: str) -> dict[str, Any]:
        """Shape, tokens, resources and runs per job of one model."""
        if name not in self["models"]:
            raise OlmixError(
                f"scale '{self.name}' has no model '{name}', expected {', '.join(self['models'])}"
            )
        return self["models"][name]

    def seeds(self) -> range:
        """Seeds of what the paper repeats."""
        return range(self["seeds"])


def load_scale(folder: str | Path, name: str) -> Scale:
    """Read ``folder/name.yaml``."""
    path = Path(folder) / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in Path(folder).glob("*.yaml")))
        raise OlmixError(f"no scale '{name}': expected one of {known}")
    return Scale(name, read_config(path))
