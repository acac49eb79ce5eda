"""A scale: model shapes, tokens, domains, tasks, swarm sizes and seeds of every question."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.config_files import read_config
from olmix.errors import OlmixError
from olmix.files import content_hash, sha256
from olmix.updates.sequence import STATED

__all__ = ["DISJOINT", "NOTICES", "Scale", "load_scale"]

# What everything made with an engine must say, where that is not plain training.
NOTICES = {"simulate": "MEASURED LAW of released runs, with their noise: no model was trained"}
REHEARSED = "REHEARSAL: models and texts of a trial, the numbers mean nothing"

#: The ``pool_share`` of a scale whose seeds have no run in common.
DISJOINT = "disjoint"


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
    def ours(self) -> bool:
        """Whether `snakemake` makes what is ours besides what is the paper's."""
        return self.content.get("ours", True)

    @property
    def of_own_text(self) -> bool:
        """Whether the scale is about somebody's own text, as `python -m olmix init` writes them."""
        return "mix" in self.content

    @property
    def notice(self) -> str | None:
        """What every figure made at this scale says on its face; None for plain training."""
        return REHEARSED if self.rehearses else NOTICES.get(self["engine"])

    @property
    def rehearses(self) -> bool:
        """Whether the scale's public texts come from a hub that the workflow makes itself."""
        public = self["data"].get("public", {})
        return public.get("hub") == f"results/{self.name}/hub"

    def model(self, name: str) -> dict[str, Any]:
        """Shape, tokens, resources and runs per job of one model."""
        if name not in self["models"]:
            raise OlmixError(
                f"scale '{self.name}' has no model '{name}', expected {', '.join(self['models'])}"
            )
        return self["models"][name]

    def design_print(self, root: str | Path) -> str | None:
        """A fingerprint of the design of its world, or of its law, by which jobs notice another.

        None where the data are corpora. Comments of the design's file are no part of it.
        """
        data = self["data"]
        if "world" in data:
            return content_hash(read_config(Path(root) / data["world"]["design"]))
        if "law" in data:
            return sha256(Path(root) / data["law"]["measured"])
        return None

    @property
    def priors(self) -> str:
        """Around what swarms are drawn and KL terms pull: what updates files state, or natural."""
        return self.content.get("priors", STATED)

    @property
    def disjoint_pools(self) -> int | None:
        """Into how many parts a pool is split, one for each seed; None where seeds share runs."""
        # Own text has no pools, and says nothing of them.
        return self["seeds"] if self.content.get("pool_share") == DISJOINT else None

    @property
    def pool_swarms(self) -> float:
        """The size of a pool, in swarms of the largest chain that draws from it."""
        return float(self.disjoint_pools or self["pool_share"])

    @property
    def search(self) -> dict[str, int]:
        """Settings of the search solver, where the scale has some."""
        known = self.content.get("search_candidates")
        return {} if known is None else {"candidates": known}

    def seeds(self) -> range:
        """How many seeds there are of what the paper repeats."""
        return range(self["seeds"])


def load_scale(folder: str | Path, name: str) -> Scale:
    """Read ``folder/name.yaml``, over the scale it ``extends`` if it names one."""
    content = _content(Path(folder), name, ())
    requested = content.get("requested_tokens")
    if isinstance(requested, int | float):  # one R, where there is nothing to compare
        content["requested_tokens"] = {"relaxed": requested, "tight": requested}
    return Scale(name, content)


def _content(folder: Path, name: str, extended: tuple[str, ...]) -> dict[str, Any]:
    """The settings of a scale; ``extended`` are the scales that led to it."""
    path = folder / f"{name}.yaml"
    by = f" to extend in {folder / extended[-1]}.yaml" if extended else ""
    if name in extended:
        circle = " -> ".join((*extended, name))
        raise OlmixError(f"{path}: scales extend each other in a circle ({circle})")
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise OlmixError(f"no scale '{name}'{by}: expected one of {known}")
    content = read_config(path)
    if "extends" not in content:
        return content
    base = content.pop("extends")
    if not isinstance(base, str):
        raise OlmixError(f"{path}: extends is {base!r}, expected the name of a scale")
    found = _content(folder, base, (*extended, name))
    if set(content.get("data", ())) - set(found.get("data", ())):
        # Another kind of data (a law, corpora) takes the place of the one extended.
        del found["data"]
    return _merged(found, content)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """``base`` with the values of ``over``: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged
