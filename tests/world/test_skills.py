"""Sentences say what their slots' rules say, and a wrong grammar is refused with its place."""

import copy

import numpy as np
import pytest
import yaml

from olmix.errors import OlmixError
from olmix.world.design import WorldDesign
from olmix.world.skills import PAD, Grammar
from olmix.world.words import word_classes

WORDS = {
    "number": ["zero", "one", "two"],
    "key": {"invent": 12, "ending": "ia"},
    "value": ["p", "q"],
}
SKILLS = {
    "sums": {
        "forms": ["{a} plus {b} is | {c} .", "{b} and {a} make | {c}"],
        "slots": {"a": {"any": "number"}, "b": {"any": "number"}, "c": {"sum": ["a", "b"]}},
    },
    "steps": {
        "forms": ["{a} then | {b}"],
        "slots": {"a": {"any": "number"}, "b": {"of": "a", "step": -1}},
    },
    "facts": {
        "forms": ["{k} has { | {v} }"],
        "slots": {"k": {"any": "key"}, "v": {"of": "k", "in": "value"}},
    },
}


def lines(skill: str, count: int = 400) -> list[tuple[list[str], int]]:
    grammar = Grammar(WORDS, SKILLS, 3)
    rows, golds = grammar.sentences(skill, count, np.random.default_rng(0))
    return [
        (grammar.text(row[row != PAD]).split(), int(gold))
        for row, gold in zip(rows, golds, strict=True)
    ]


def test_sums_are_right_in_both_forms():
    numbers = WORDS["number"]
    seen = set()
    for words, gold in lines("sums"):
        assert gold == 4
        expected = (numbers.index(words[0]) + numbers.index(words[2])) % 3
        assert words[gold] == numbers[expected]
        seen.add(len(words))
    assert seen == {5, 6}


def test_steps_go_round():
    pairs = {(words[0], words[2]) for words, _ in lines("steps")}
    assert pairs == {("zero", "two"), ("one", "zero"), ("two", "one")}


def test_facts_are_single_valued_and_balanced():
    facts = {}
    for words, gold in lines("facts"):
        assert words[1:3] == ["has", "{"]
        assert facts.setdefault(words[0], words[gold]) == words[gold]
    assert len(facts) == 12
    assert sorted(facts.values()) == ["p"] * 6 + ["q"] * 6


def test_relations_name_what_skills_share():
    grammar = Grammar(WORDS, SKILLS, 0)
    assert grammar.skills["facts"].relations == {"key -> value"}
    assert grammar.skills["sums"].relations == {"sum of number"}
    assert grammar.skills["sums"].mean_length == 5.5


def test_another_skill_leaves_facts_and_names_alone():
    more = SKILLS | {"extra": SKILLS["steps"]}
    before, after = Grammar(WORDS, SKILLS, 5), Grammar(WORDS, more, 5)
    assert before.classes == after.classes
    assert np.array_equal(before.fact("key", "value"), after.fact("key", "value"))


def broken(skill: str, **changes) -> dict:
    skills = copy.deepcopy(SKILLS)
    skills[skill].update(changes)
    return skills


@pytest.mark.parametrize(
    ("skills", "message"),
    [
        (broken("sums", forms=["{a} plus {b} is {c}"]), "one '\\|' between"),
        (broken("sums", forms=["{a} is | {d}"]), "no slot 'd'"),
        (broken("sums", forms=[]), "no forms"),
        (broken("sums", slots={"c": {"sum": ["a", "b"]}}), "needs slot 'a', which is not above"),
        (broken("steps", slots={"a": {"any": "letter"}}), "no words called 'letter'"),
        (broken("steps", slots={"a": {"any": "number", "step": 1}}), "expected {any}"),
        (broken("steps", slots={"a": {"all": "number"}}), "unknown key 'all'"),
    ],
)
def test_wrong_skills_are_refused(skills, message):
    with pytest.raises(OlmixError, match=message):
        Grammar(WORDS, skills, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"a": ["one"], "b": ["one"]}, "'one' is already one of 'a'"),
        ({"a": ["two words"]}, "without spaces"),
        ({"a": []}, "empty"),
        ({"a": {"number": 3}}, "unknown key"),
        ({"a": {"invent": 0}}, "invent is 0"),
        ({"a": {"invent": 100_000}}, "invent is 100000"),
    ],
)
def test_wrong_words_are_refused(words, message):
    with pytest.raises(OlmixError, match=message):
        word_classes(words, 0)


WORLD = {
    "words": WORDS,
    "skills": SKILLS,
    "leak": 0.1,
    "sentences": [2, 3],
    "domains": {"web:a": {"tokens": 500, "skills": {"sums": 0.5, "facts": 0.5}}},
    "shots": 1,
    "instances": 4,
    "tasks": {"sums": {"family": "maths", "skills": {"sums": 1}}},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"leak": 1.0}, "leak is 1.0"),
        ({"sentences": [3, 2]}, "sentences"),
        ({"shots": -1}, "shots"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"domains": {"a": {"tokens": 5, "skills": {"sums": 0.5}}}}, "shares sum to 0.5"),
        ({"domains": {"a": {"tokens": 5, "skills": {"cooking": 1}}}}, "no skill 'cooking'"),
        ({"domains": {"a": {"tokens": 0, "skills": {"sums": 1}}}}, "tokens is 0"),
        ({"domains": {"a": {"union_of": ["b"]}}}, "'b', which is not above"),
        ({"domains": {"a": {"skills": {"sums": 1}}}}, "expected tokens and skills"),
        ({"tasks": {"t": {"skills": {"sums": 1}}}}, "'family' is missing"),
    ],
)
def test_wrong_designs_are_refused(tmp_path, changes, message):
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump(WORLD | changes))
    with pytest.raises(OlmixError, match=message) as refused:
        WorldDesign.load(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_small_design_loads(tmp_path):
    path = tmp_path / "world.yaml"
    path.write_text(yaml.safe_dump(WORLD))
    design = WorldDesign.load(path)
    shares = design.shares("web:a")
    assert shares == pytest.approx(
        {"sums": 0.45 + 0.1 / 3, "steps": 0.1 / 3, "facts": 0.45 + 0.1 / 3}
    )
