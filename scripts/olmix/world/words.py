"""The world's words: listed ones, and names invented from syllables."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from olmix.config_files import check_keys
from olmix.errors import OlmixError

__all__ = ["END_OF_TEXT", "seeded", "word_classes"]

END_OF_TEXT = "<|endoftext|>"

ONSETS = (
    "b", "br", "d", "dr", "f", "g", "gl", "h", "k", "kr", "l", "m", "n", "p", "pl", "r", "s", "st",
    "t", "tr", "v", "z", "sh", "th",
)  # fmt: skip
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
CODAS = ("b", "d", "k", "l", "m", "n", "r", "t", "v")
# Far below what the syllables can make, so that looking for a new word ends soon.
MOST_INVENTED = 1000


def seeded(seed: int, *what: str) -> np.random.Generator:
    """A generator of its own for each named part of the world.

    Keyed by name and not by order, so that adding a skill or a domain leaves the others as they
    were.
    """
    return np.random.default_rng([seed, *(zlib.crc32(part.encode()) for part in what)])


def word_classes(entries: Mapping[str, Any], seed: int) -> dict[str, tuple[str, ...]]:
    """The words of each class: a list as it stands, or ``{invent: 20, ending: ia}``."""
    classes: dict[str, tuple[str, ...]] = {}
    taken = {word for entry in entries.values() if not isinstance(entry, Mapping) for word in entry}
    for name, entry in entries.items():
        if isinstance(entry, Mapping):
            check_keys(entry, ("invent", "ending"), ("invent",), where=f"words '{name}'")
            count, ending = entry["invent"], entry.get("ending", "")
            if not isinstance(count, int) or not 1 <= count <= MOST_INVENTED:
                raise OlmixError(
                    f"words '{name}': invent is {count!r}, expected 1 to {MOST_INVENTED}"
                )
            words = _invented(count, ending, taken, seeded(seed, "words", name))
            taken.update(words)
        else:
            words = tuple(entry)
        classes[name] = words
    _check(classes)
    return classes


def _invented(
    count: int, ending: str, taken: set[str], rng: np.random.Generator
) -> tuple[str, ...]:
    """``count`` new words of one or two syllables, so that their lengths in bytes differ."""
    words: list[str] = []
    while len(words) < count:
        syllables = rng.integers(1, 3)
        stem = "".join(str(rng.choice(ONSETS)) + str(rng.choice(VOWELS)) for _ in range(syllables))
        word = stem + str(rng.choice(CODAS)) + ending if ending else stem
        if word not in taken and word not in words:
            words.append(word)
    return tuple(words)


def _check(classes: Mapping[str, tuple[str, ...]]) -> None:
    """A word belongs to one class, once, and has no space in it."""
    owner: dict[str, str] = {}
    for name, words in classes.items():
        if not words:
            raise OlmixError(f"words '{name}': empty, expected at least one word")
        for word in words:
            if not isinstance(word, str) or not word or word.split() != [word]:
                raise OlmixError(f"words '{name}': {word!r}, expected a word without spaces")
            if word in owner:
                raise OlmixError(f"words '{name}': '{word}' is already one of '{owner[word]}'")
            owner[word] = name
