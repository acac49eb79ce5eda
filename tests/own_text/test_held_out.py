"""What is held out, and the prompts and continuations made of it."""

import random
from itertools import pairwise

from olmix.own_text.held_out import (
    GOLD_CHARACTERS,
    INSTANCES,
    MOST_DOCUMENTS,
    PROMPT_CHARACTERS,
    chosen_documents,
    instances_of,
)
from olmix.own_text.prints import ContentPrint
from olmix.own_text.survey import Candidate, DomainSurvey

WORDS = " ".join(f"word{number}" for number in range(3000))


def survey(documents: int, copies: int = 1) -> DomainSurvey:
    """A domain whose every document came so many times."""
    draw = random.Random(documents)
    different = min(documents // copies, 256)
    texts = [" ".join(str(draw.random()) for _ in range(20)) for _ in range(different)]
    found = DomainSurvey(documents=documents, content=ContentPrint(documents))
    found.candidates = [Candidate(number, text) for number, text in enumerate(texts)]
    for entry in found.candidates:
        found.sample.add(entry.prints.near, copies)
    return found


def test_a_tenth_at_most_is_held_out_and_never_more_than_enough():
    assert [len(chosen_documents(survey(n))) for n in (9, 10, 99, 640, 10_000)] == [
        0, 1, 9, MOST_DOCUMENTS, MOST_DOCUMENTS,
    ]  # fmt: skip


def test_a_tenth_counts_all_copies_of_what_is_held_out():
    assert [len(chosen_documents(survey(400, copies))) for copies in (1, 2, 10, 40, 50)] == [
        40, 20, 4, 1, 0,
    ]  # fmt: skip


def test_of_near_copies_one_is_held_out():
    found = survey(400)
    first = found.candidates[0]
    found.candidates[1] = Candidate(1, first.text + ".")
    assert found.candidates[1].prints.near == first.prints.near
    chosen = chosen_documents(found)
    assert first in chosen and found.candidates[1] not in chosen and len(chosen) == 40


def test_a_prompt_and_its_continuation_are_neighbours_cut_between_words():
    (instance, *_) = instances_of([Candidate(0, WORDS)] * MOST_DOCUMENTS)
    assert WORDS.startswith(instance.prompt + instance.gold)
    assert instance.gold.startswith(" word")
    assert len(instance.prompt + instance.gold) == PROMPT_CHARACTERS + GOLD_CHARACTERS


def test_few_documents_give_as_many_instances_that_do_not_overlap():
    instances = instances_of([Candidate(0, WORDS), Candidate(1, WORDS[::-1])])
    assert len(instances) == INSTANCES
    first = [entry.prompt + entry.gold for entry in instances if "word" in entry.prompt]
    places = [WORDS.index(text) for text in first]
    steps = [after - before for before, after in pairwise(places)]
    assert min(steps) >= PROMPT_CHARACTERS + GOLD_CHARACTERS


def test_short_and_blank_texts_give_what_they_can():
    assert [tuple(e) for e in instances_of([Candidate(0, "one two three four")])] == [
        ("one two", " three four")
    ]
    assert instances_of([Candidate(0, " " * 500 + "end")]) == []
    assert instances_of([]) == []
