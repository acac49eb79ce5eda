"""Documents that no model trains on, and the tasks made of them: a prompt and its continuation.

Documents are chosen by their prints, so copies and near copies of a held-out document are held out
too, in whatever domain they lie, and a document that was held out once is again the next time.
"""

from collections.abc import Iterator, Sequence

from olmix.evaluation.suite import Instance
from olmix.own_text.survey import Candidate, DomainSurvey

__all__ = ["FAMILY", "chosen_documents", "instances_of"]

# Held out of a domain: at most so many documents, and at most this share of them.
MOST_DOCUMENTS = 64
LARGEST_SHARE = 0.1
# Instances of a task, and the characters of a prompt and of its continuation.
INSTANCES = 48
PROMPT_CHARACTERS = 256
GOLD_CHARACTERS = 256
# Tasks are of one family: nothing is known of what they are about.
FAMILY = "held_out"


def chosen_documents(survey: DomainSurvey, share: float = LARGEST_SHARE) -> list[Candidate]:
    """The documents of a domain to hold out, none of them near copies of each other.

    None where that would be, with all their copies, too large a part of the domain.
    """
    left = share * survey.documents
    chosen: dict[int, Candidate] = {}
    for entry in survey.candidates:
        near = entry.prints.near
        copies = survey.sample.copies(near)
        if near not in chosen and copies <= left and len(chosen) < MOST_DOCUMENTS:
            chosen[near] = entry
            left -= copies
    return list(chosen.values())


def instances_of(documents: Sequence[Candidate]) -> list[Instance]:
    """Prompts and continuations: of few documents several each, at different places."""
    windows = -(-INSTANCES // len(documents)) if documents else 0
    found = [instance for entry in documents for instance in _windows(entry.text, windows)]
    return found[:INSTANCES]


def _windows(text: str, most: int) -> Iterator[Instance]:
    """Up to ``most`` stretches of a text, evenly spread and not overlapping."""
    size = PROMPT_CHARACTERS + GOLD_CHARACTERS
    count = max(1, min(most, len(text) // size))
    for number in range(count):
        stretch = text[number * len(text) // count :][:size]
        middle = _word_end(stretch, len(stretch) // 2)
        prompt, gold = stretch[:middle], stretch[middle:]
        if prompt.strip() and gold.strip():
            yield Instance(prompt, gold)


def _word_end(text: str, place: int) -> int:
    """The last end of a word at or before a place, near it; the place itself if there is none."""
    for index in range(place, max(place - 40, 0), -1):
        if text[index : index + 1].isspace() and not text[index - 1].isspace():
            return index
    return place
