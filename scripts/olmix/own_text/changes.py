"""What changed between two looks at the same text: domains added, removed, split, revised, renamed.

Domains are compared by what they hold, not by their files: text that was only moved, renamed or
saved again has not changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from olmix.own_text.prints import ContentPrint

__all__ = ["Changes", "find_changes"]

# Parts of a split are found by trying sets of new domains: up to so many, any set is tried.
_MOST_TRIED = 12


@dataclass(frozen=True)
class Changes:
    """Names of domains by what happened to them.

    ``split``: old domain -> the new ones that together hold what it held. ``renamed``: new name ->
    the old one.
    """

    unchanged: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether the set of domains is another one; a new name alone does not make it so."""
        return bool(self.added or self.removed or self.revised or self.split)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Changes":
        """The changes as JSON has them."""
        lists = ("unchanged", "added", "removed", "revised")
        split = {whole: tuple(parts) for whole, parts in record["split"].items()}
        return cls(
            **{name: tuple(record[name]) for name in lists},
            split=split,
            renamed=dict(record["renamed"]),
        )

    def lines(self) -> list[str]:
        """What happened to the domains, in words, one line each."""
        return [
            *(f"{name}: new" for name in self.added),
            *(f"{name}: removed" for name in self.removed),
            *(f"{name}: holds other text than before" for name in self.revised),
            *(f"{whole}: split into {', '.join(parts)}" for whole, parts in self.split.items()),
            *(f"{old}: now called {new}, the same text" for new, old in self.renamed.items()),
        ]


def find_changes(before: Mapping[str, ContentPrint], after: Mapping[str, ContentPrint]) -> Changes:
    """Compare the domains of two looks by the prints of what they hold."""
    same = [name for name in before if name in after]
    gone = [name for name in before if name not in after]
    new = [name for name in after if name not in before]
    renamed, split = {}, {}
    for old in list(gone):
        parts = _parts(before[old], {name: after[name] for name in new})
        if parts:
            gone.remove(old)
            new = [name for name in new if name not in parts]
        if len(parts) == 1:
            renamed[parts[0]] = old
        elif parts:
            split[old] = parts
    return Changes(
        unchanged=tuple(name for name in same if after[name] == before[name]),
        added=tuple(new),
        removed=tuple(gone),
        revised=tuple(name for name in same if after[name] != before[name]),
        split=split,
        renamed=renamed,
    )


def _parts(whole: ContentPrint, new: Mapping[str, ContentPrint]) -> tuple[str, ...]:
    """The new domains that together hold what one domain held, or none."""
    small = {
        name: content for name, content in new.items() if 0 < content.documents <= whole.documents
    }
    for parts in _sets(tuple(small)):
        total = ContentPrint()
        for name in parts:
            total += small[name]
        if total == whole:
            return parts
    return ()


def _sets(names: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Sets of names to try: single ones, all of them, then any if there are not too many."""
    yield from ((name,) for name in names)
    if len(names) > 1:
        yield names
    if len(names) <= _MOST_TRIED:
        for size in range(2, len(names)):
            yield from combinations(names, size)
