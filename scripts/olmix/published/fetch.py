"""Bring the released swarms here: fetched once, resumed, and checked against a lock file."""

from collections.abc import Callable
from pathlib import Path

from olmix.corpus.download import download, plan_download, verify_downloads
from olmix.corpus.hub import Hub
from olmix.corpus.sources import TextSource
from olmix.errors import OlmixError
from olmix.files import sha256

__all__ = ["fetch_released", "list_released"]

FILES = ("ratios.csv", "metrics.csv", "meta.json")


def fetch_released(
    dataset: str,
    revision: str,
    to: Path,
    hub: Hub,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Fetch every swarm of the dataset; returns the folder that holds them.

    ``<to>/checksums.json`` pins the commit and every file's SHA-256 of the first fetch; later ones
    must agree.
    """
    source = TextSource(
        "published swarms",
        {"": tuple(f"**/{name}" for name in FILES)},
        dataset=dataset,
        revision=revision,
        local=False,
    )
    download(plan_download(source, to, hub), to, hub, on_progress=on_progress)
    damaged = [f"{path}: {problem}" for path, problem in verify_downloads(to) if problem]
    if damaged:
        raise OlmixError(f"{to / damaged[0]} ({len(damaged)} such); remove it to fetch it again")
    return to / dataset


def list_released(root: Path) -> dict[str, str]:
    """Every file of the swarms below a folder, with its SHA-256."""
    if not root.is_dir():
        raise OlmixError(f"published swarms: no folder {root}")
    paths = sorted(path for name in FILES for path in root.rglob(name))
    return {str(path.relative_to(root)): sha256(path) for path in paths}
