"""What is held out, and the prompts and continuations made of it."""

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


def survey(documents: int) -> DomainSurvey:
    candidates = [Candidate(number, WORDS[number:]) for number in range(min(documents, 256))]
    return DomainSurvey(documents=documents, content=ContentPrint(documents), candidates=candidates)


def test_a_tenth_at_most_is_held_out_and_never_more_than_enough():
    assert [len(chosen_documents(survey(n))) for n in (9, 10, 99, 640, 10_000)] == [
        0, 1, 9, MOST_DOCUMENTS, MOST_DOCUMENTS,
    ]  # fmt: skip


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
