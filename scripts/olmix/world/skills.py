"""Skills: sentence forms whose gold part follows from what comes before it.

A form is a line such as ``the capital of {country} is | {city} on the {river} .``: plain words,
slots in braces, and a bar where the gold continuation starts. A slot is drawn freely
(``any: country``) or determined by another one: by a fact (``of: country, in: city``), by a step
along the order of its class (``of: a, step: 1``) or by a sum (``sum: [a, b]``). Facts belong to the
world and not to a skill: two skills that map the same class to the same class agree on every word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from olmix.config_files import check_keys
from olmix.errors import OlmixError
from olmix.world.words import END_OF_TEXT, seeded, word_classes

__all__ = ["PAD", "Grammar", "Skill"]

PAD = -1
"""Fills the end of a short sentence's row."""


@dataclass(frozen=True)
class Form:
    """One sentence form: word ids and slot names, and where its gold part starts."""

    parts: tuple[int | str, ...]
    gold: int


@dataclass(frozen=True)
class Slot:
    """How one slot gets its word: freely, or from other slots."""

    kind: str  # any, fact, step or sum
    word_class: str
    inputs: tuple[str, ...] = ()
    step: int = 0


@dataclass(frozen=True)
class Skill:
    """A skill's forms and slots, the latter in an order in which they can be filled."""

    name: str
    forms: tuple[Form, ...]
    slots: Mapping[str, Slot]

    @property
    def relations(self) -> frozenset[str]:
        """What the skill needs to know, by name; skills that share one help each other."""
        found = set()
        for slot in self.slots.values():
            if slot.kind == "fact":
                found.add(f"{self.slots[slot.inputs[0]].word_class} -> {slot.word_class}")
            elif slot.kind == "step":
                found.add(f"order of {slot.word_class}")
            elif slot.kind == "sum":
                found.add(f"sum of {slot.word_class}")
        return frozenset(found)

    @property
    def mean_length(self) -> float:
        """Words per sentence; every form is as likely as any other."""
        return sum(len(form.parts) for form in self.forms) / len(self.forms)


class Grammar:
    """The vocabulary, the facts and the skills of one world."""

    def __init__(self, words: Mapping[str, Any], skills: Mapping[str, Any], seed: int) -> None:
        """Read the ``words`` and ``skills`` of a design; the seed draws names and facts."""
        self._seed = seed
        self.classes = word_classes(words, seed)
        vocabulary = [END_OF_TEXT, *(word for group in self.classes.values() for word in group)]
        plain = [word for skill in skills.values() for word in _plain_words(skill)]
        self.vocabulary: tuple[str, ...] = tuple(dict.fromkeys([*vocabulary, *plain]))
        self.ids = {word: index for index, word in enumerate(self.vocabulary)}
        self.word_bytes = np.array([len(word.encode()) for word in self.vocabulary])
        self._class_ids = {
            name: np.array([self.ids[word] for word in group])
            for name, group in self.classes.items()
        }
        self.skills = {name: self._skill(name, entry) for name, entry in skills.items()}

    def sentences(
        self, skill: str, count: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """``count`` sentences of a skill as rows of ids ended by `PAD`, and their gold's start."""
        forms = self.skills[skill].forms
        chosen = rng.integers(len(forms), size=count)
        slots = self._fill(self.skills[skill], count, rng)
        rows = np.full((count, max(len(form.parts) for form in forms)), PAD, dtype=np.int64)
        for index, form in enumerate(forms):
            of_form = chosen == index
            for column, part in enumerate(form.parts):
                rows[of_form, column] = part if isinstance(part, int) else slots[part][of_form]
        return rows, np.array([form.gold for form in forms])[chosen]

    def fact(self, key_class: str, value_class: str) -> np.ndarray:
        """For each word of one class, the position of its value in the other.

        Every value is used about equally often, so that no guess is better than another.
        """
        keys, values = len(self.classes[key_class]), len(self.classes[value_class])
        rng = seeded(self._seed, "fact", key_class, value_class)
        return rng.permutation(np.arange(keys) % values)

    def text(self, ids: Sequence[int] | np.ndarray) -> str:
        """The words of these ids, with a space between them."""
        return " ".join(self.vocabulary[index] for index in ids)

    def _fill(self, skill: Skill, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """A word id per sentence for each slot."""
        positions: dict[str, np.ndarray] = {}
        for name, slot in skill.slots.items():
            size = len(self.classes[slot.word_class])
            given = [positions[other] for other in slot.inputs]
            if slot.kind == "any":
                positions[name] = rng.integers(size, size=count)
            elif slot.kind == "fact":
                key_class = skill.slots[slot.inputs[0]].word_class
                positions[name] = self.fact(key_class, slot.word_class)[given[0]]
            elif slot.kind == "step":
                positions[name] = (given[0] + slot.step) % size
            else:
                positions[name] = np.sum(given, axis=0) % size
        return {
            name: self._class_ids[skill.slots[name].word_class][position]
            for name, position in positions.items()
        }

    def _skill(self, name: str, entry: Mapping[str, Any]) -> Skill:
        where = f"skill '{name}'"
        check_keys(entry, ("forms", "slots"), ("forms", "slots"), where=where)
        slots: dict[str, Slot] = {}
        for slot, rule in entry["slots"].items():
            slots[slot] = self._slot(rule, slots, f"{where}, slot '{slot}'")
        if not entry["forms"]:
            raise OlmixError(f"{where}: no forms, expected at least one")
        forms = tuple(self._form(line, slots, where) for line in entry["forms"])
        return Skill(name, forms, slots)

    def _slot(self, rule: Mapping[str, Any], earlier: Mapping[str, Slot], where: str) -> Slot:
        check_keys(rule, ("any", "of", "in", "step", "sum"), where=where)
        inputs = tuple(rule.get("sum", [rule["of"]] if "of" in rule else []))
        for name in inputs:
            if name not in earlier:
                raise OlmixError(f"{where}: needs slot '{name}', which is not above it")
        keys = set(rule)
        if keys == {"any"}:
            slot = Slot("any", rule["any"])
        elif keys == {"of", "in"}:
            slot = Slot("fact", rule["in"], inputs)
        elif keys == {"of", "step"}:
            slot = Slot("step", earlier[rule["of"]].word_class, inputs, int(rule["step"]))
        elif keys == {"sum"} and len({earlier[name].word_class for name in inputs}) == 1:
            slot = Slot("sum", earlier[inputs[0]].word_class, inputs)
        else:
            raise OlmixError(
                f"{where}: {dict(rule)}, expected {{any}}, {{of, in}}, {{of, step}} or {{sum}} "
                "of slots of one class"
            )
        if slot.word_class not in self.classes:
            raise OlmixError(f"{where}: no words called '{slot.word_class}'")
        return slot

    def _form(self, line: str, slots: Mapping[str, Slot], where: str) -> Form:
        words = line.split()
        if words.count("|") != 1 or words.index("|") in (0, len(words) - 1):
            raise OlmixError(f"{where}: form '{line}', expected one '|' between prompt and gold")
        gold = words.index("|")
        parts: list[int | str] = []
        for word in words[:gold] + words[gold + 1 :]:
            slot = _slot_name(word)
            if slot is not None and slot not in slots:
                raise OlmixError(f"{where}: form '{line}' has no slot '{slot}'")
            parts.append(self.ids[word] if slot is None else slot)
        return Form(tuple(parts), gold)


def _slot_name(word: str) -> str | None:
    """``city`` for ``{city}``; None for a plain word (also for a lone brace)."""
    return word[1:-1] if len(word) > 2 and word[0] == "{" and word[-1] == "}" else None


def _plain_words(entry: Mapping[str, Any]) -> list[str]:
    """The words of a skill's forms that are no slots."""
    words = [word for line in entry.get("forms", ()) for word in line.split()]
    return [word for word in words if word != "|" and _slot_name(word) is None]
