"""How large public texts are, and how long the jobs that prepare them take, before any has run.

Sizes are the hub's where a source was listed; before that they are what its entry declares.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from olmix.files import read_json
from olmix.study.public_data import COMPRESSED_BYTES, PublicData

__all__ = ["listed", "preparing_limit", "preparing_minutes", "text_bytes"]

# A document of the web or of a paper is taken for so many tokens: assumed, for limits of jobs only.
DOCUMENT_TOKENS = 1000


def listed(data: PublicData, name: str) -> Path:
    """The listing of the files that a source reads, its own or another's."""
    return Path(data.results) / "list_source" / f"{data.sources[name].files_of or name}.json"


def text_bytes(data: PublicData, name: str) -> float | None:
    """Compressed bytes of a source's text; None where nothing is known of it."""
    source = data.sources[data.sources[name].files_of or name]
    if not source.local and listed(data, name).is_file():
        return float(sum(file["size"] for file in read_json(listed(data, name))["files"]))
    if data.made_here:
        return 0.0  # some megabytes, whatever the public dataset has
    return None if source.tokens is None else COMPRESSED_BYTES * source.tokens


def _download(size: float, settings: Mapping[str, Any]) -> float:
    return size / (1e6 * settings["speeds"]["download_mb"])


def _label(size: float, settings: Mapping[str, Any]) -> float:
    documents = size / COMPRESSED_BYTES / DOCUMENT_TOKENS
    return documents / settings["speeds"]["label_documents"]


def _tokenise(size: float, settings: Mapping[str, Any]) -> float:
    tokens = size / COMPRESSED_BYTES
    return tokens / (settings["speeds"]["thread_tokens"] * settings["threads"])


# rule -> seconds that a job takes for so many bytes of text
_SECONDS: dict[str, Callable[[float, Mapping[str, Any]], float]] = {
    "download_source": _download,
    "label_topics": _label,
    "tokenize_source": _tokenise,
}


def preparing_minutes(data: PublicData, rule: str, name: str) -> float | None:
    """Minutes that one shard of a source is expected to take; None where its size is unknown."""
    size = text_bytes(data, name)
    if size is None:
        return None
    return _SECONDS[rule](size / data.shards(name), data.settings) / 60


def preparing_limit(data: PublicData, rule: str, name: str, hardware: Mapping[str, Any]) -> int:
    """The time limit of one shard's job, which grows with its text as those of training do.

    Jobs go on in another attempt, so none asks for more than the longest one allowed; a source of
    unknown size asks for that.
    """
    minutes, longest = preparing_minutes(data, rule, name), hardware["longest_job"]
    if minutes is None:
        return int(longest)
    return min(int(longest), math.ceil(hardware["safety"] * minutes + hardware["spare_minutes"]))
