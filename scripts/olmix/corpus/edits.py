"""Edits of documents on their way to tokens: how a former version of a domain is made again."""

import re
from collections.abc import Callable

__all__ = ["EDITS", "without_references"]

# A line that is a heading of its own: plain, numbered, or Markdown.
_HEADING = re.compile(
    r"^[#*\s\d.]*(references|bibliography|works cited|literature cited)[*:\s]*$",
    re.IGNORECASE | re.MULTILINE,
)


def without_references(text: str) -> str:
    """A document up to its list of references, where one begins in its second half.

    A heading further up is one of the contents page. A document that is nothing else stays.
    """
    for heading in _HEADING.finditer(text):
        if heading.start() >= len(text) / 2 and text[: heading.start()].strip():
            return text[: heading.start()]
    return text


#: By the name that a source of a corpora file gives under ``edit``.
EDITS: dict[str, Callable[[str], str]] = {"without_references": without_references}
