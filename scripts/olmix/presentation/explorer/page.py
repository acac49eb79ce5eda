"""Write the explorer: one HTML file with its style, scripts and numbers inside."""

import json
import re
from importlib.resources import files
from pathlib import Path

from olmix.errors import OlmixError
from olmix.files import write_text
from olmix.presentation.explorer.content import Exploration

__all__ = ["SOLVER", "resource", "write_explorer"]

# What works without a page, and then the page itself, in the order they need each other.
SOLVER = ("law.js", "solver.js")
SCRIPTS = (
    *SOLVER,
    "state.js",
    "elements.js",
    "rows.js",
    "request.js",
    "words.js",
    "takeaway.js",
    "page.js",
)


def write_explorer(path: str | Path, exploration: Exploration) -> None:
    """Write ``explore.html``: it opens from a disk and fetches nothing."""
    try:
        data = json.dumps(exploration.to_dict(), separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise OlmixError(f"{path}: the law holds a value JSON cannot ({error})") from error
    parts = {
        "style": resource("style.css"),
        # Whatever names hold, none can end the element: "<" is written as its escape.
        "data": data.replace("<", "\\u003c"),
        "scripts": "\n".join(map(resource, SCRIPTS)),
    }
    page = re.sub(r"@(style|data|scripts)@", lambda mark: parts[mark[1]], resource("page.html"))
    write_text(path, page)


def resource(name: str) -> str:
    """The text of one of the files a page is made of."""
    return files("olmix.presentation.explorer").joinpath(name).read_text(encoding="utf-8")
