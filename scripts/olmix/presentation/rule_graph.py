"""The rules of the workflow as Mermaid text, which code hosts draw, from Snakemake's graph of jobs.

Rules depend on one another in circles (a swarm's runs lead to mixes, whose runs are listed by the
same rule again); jobs do not. What follows from other arrows is therefore left out among the jobs,
and only then are jobs of one rule drawn together.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from itertools import cycle

from olmix.errors import OlmixError

__all__ = ["COLOURS", "mermaid", "read_arrows"]

# Of the files of rules, in their order: light enough for dark text, on white pages and on black.
COLOURS = {
    "grey": "#DDDDDD", "blue": "#A6CEE3", "pink": "#F5C2D6", "yellow": "#FFE9A0",
    "green": "#B2DF8A", "orange": "#FDC68A", "violet": "#CAB2D6", "white": "#FFFFFF",
    "red": "#F4A6A0", "brown": "#D9C3A5",
}  # fmt: skip


def read_arrows(dot: str) -> set[tuple[str, str]]:
    """The arrows between rules that ``snakemake --dag dot`` draws, less those that others imply."""
    rules = dict(re.findall(r'^\s*(\d+)\s*\[label = "(\w+)', dot, re.MULTILINE))
    needs: dict[str, set[str]] = {job: set() for job in rules}
    for before, after in re.findall(r"^\s*(\d+) -> (\d+)\s*$", dot, re.MULTILINE):
        needs[after].add(before)
    if not rules:
        raise OlmixError(f"graph of jobs: no job in {dot[:80]!r}; expected snakemake --dag dot")
    behind: dict[str, set[str]] = {}  # job -> all that it waits for, however far
    found = set()
    for job in TopologicalSorter(needs).static_order():
        farther = set().union(*(behind[other] for other in needs[job]))
        behind[job] = farther | needs[job]
        found |= {(rules[other], rules[job]) for other in needs[job] - farther}
    return {(before, after) for before, after in found if before != after}


def mermaid(arrows: Iterable[tuple[str, str]], files: Mapping[str, str]) -> str:
    """A box per rule, coloured by its file of rules, in the order of ``files`` (rule -> file).

    Rules of one file that have all arrows in common share a box; those without a file are left
    out. An arrow back to an earlier rule is dotted.
    """
    place = {rule: number for number, rule in enumerate(files)}
    arrows = sorted(
        (arrow for arrow in arrows if place.keys() >= set(arrow)),
        key=lambda arrow: (place[arrow[0]], place[arrow[1]]),
    )
    alike: dict[tuple, list[str]] = defaultdict(list)
    for rule in sorted({rule for arrow in arrows for rule in arrow}, key=place.__getitem__):
        sources = tuple(a for a, b in arrows if b == rule)
        targets = tuple(b for a, b in arrows if a == rule)
        alike[files[rule], sources, targets].append(rule)
    lines = ["```mermaid", "flowchart TB"]
    for file, fill in zip(dict.fromkeys(files.values()), cycle(COLOURS.values()), strict=False):
        if any(file == of for of, *_ in alike):
            lines.append(f"  classDef {file} fill:{fill},stroke:#555,color:#222")
    lines += [f'  {r[0]}["{"<br>".join(r)}"]:::{file}' for (file, *_), r in alike.items()]
    drawn = {rules[0] for rules in alike.values()}
    for a, b in arrows:
        if {a, b} <= drawn:
            lines.append(f"  {a} {'-->' if place[a] < place[b] else '-.->'} {b}")
    return "\n".join([*lines, "```"])
