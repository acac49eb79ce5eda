"""codecheck.yml: what whoever checks this work should be able to make again (codecheck.org.uk)."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

__all__ = ["codecheck"]

_VERSION = "https://codecheck.org.uk/spec/config/1.0/"
_ABOUT = """\
# The manifest of a CODECHECK: outputs, and the question each answers. `snakemake FILE` makes it.
# Whoever checks adds codechecker, report and certificate. Written by `snakemake gallery`.
---
"""


def codecheck(citation: Mapping[str, Any], questions: Iterable[Mapping[str, Any]]) -> str:
    """The file's text, from CITATION.cff and the questions with their figures."""
    paper = citation["references"][0]
    names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    manifest = [
        {"file": f"figures/{figure}.pdf", "comment": question["title"]}
        for question in questions
        for figure in question["figures"]
    ]
    manifest += [
        {"file": "figures/claims.pdf", "comment": "Every claim of the paper, judged"},
        {"file": "results/claims.csv", "comment": "The same as a table"},
    ]
    content = {
        "version": _VERSION,
        "paper": {
            "title": paper["title"],
            "authors": [{"name": name} for name in names],
            "reference": paper["url"],
        },
        "manifest": manifest,
    }
    return _ABOUT + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
