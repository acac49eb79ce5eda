"""Documents: sentences of a domain's skills one after another, packed as a token store wants."""

from dataclasses import dataclass

import numpy as np

from olmix.world.design import WorldDesign
from olmix.world.skills import PAD, Grammar
from olmix.world.words import seeded

__all__ = ["Documents", "all_documents"]


@dataclass(frozen=True)
class Documents:
    """Word ids of documents end to end (without end-of-text) and the length of each."""

    ids: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each document starts in `ids`."""
        return np.cumsum(self.lengths) - self.lengths

    def packed(self, end_of_text: int) -> np.ndarray:
        """The ids with an end-of-text after each document."""
        return np.insert(self.ids, np.cumsum(self.lengths), end_of_text)

    def text_bytes(self, word_bytes: np.ndarray) -> int:
        """UTF-8 bytes of the text: the words, and a space between two of a document."""
        return int(word_bytes[self.ids].sum() + (self.lengths - 1).sum())


def all_documents(design: WorldDesign, grammar: Grammar, seed: int) -> dict[str, Documents]:
    """The documents of every domain of the design."""
    made: dict[str, Documents] = {}
    for name, domain in design.domains.items():
        rng = seeded(seed, "domain", name)
        if domain.union_of:
            documents = _union([made[part] for part in domain.union_of], rng)
        elif domain.copy_of is not None:
            documents = made[domain.copy_of]
        else:
            documents = _own_documents(design, grammar, name, rng)
        if domain.misread:
            documents = _misread(documents, domain.misread, len(grammar.vocabulary), rng)
        made[name] = documents
    return made


def _own_documents(
    design: WorldDesign, grammar: Grammar, domain: str, rng: np.random.Generator
) -> Documents:
    """Documents of independent sentences, until the domain has its tokens."""
    shares = design.shares(domain)
    lengths = np.array([grammar.skills[skill].mean_length for skill in shares])
    # Shares are of tokens, draws are of sentences: a long sentence is drawn less often.
    rates = np.array(list(shares.values())) / lengths
    low, high = design.sentences
    tokens_per_sentence = 1 / rates.sum() + 2 / (low + high)  # with its part of an end-of-text
    wanted = int(np.ceil(design.domains[domain].tokens / tokens_per_sentence))
    ends = np.cumsum(rng.integers(low, high + 1, size=wanted // low + 1))
    ends = ends[: max(1, np.searchsorted(ends, wanted, side="right"))]  # whole documents only
    sentences = int(ends[-1])
    drawn = rng.choice(len(shares), size=sentences, p=rates / rates.sum())
    width = max(len(form.parts) for skill in grammar.skills.values() for form in skill.forms)
    rows = np.full((sentences, width), PAD, dtype=np.int64)
    for index, skill in enumerate(shares):
        where = np.flatnonzero(drawn == index)
        sentences_of_skill, _ = grammar.sentences(skill, len(where), rng)
        rows[where, : sentences_of_skill.shape[1]] = sentences_of_skill
    words = (rows != PAD).sum(axis=1)
    boundaries = np.concatenate([[0], np.cumsum(words)])[np.concatenate([[0], ends])]
    return Documents(rows[rows != PAD], np.diff(boundaries))


def _union(parts: list[Documents], rng: np.random.Generator) -> Documents:
    """Every document of the parts once, in one shuffled order."""
    pieces = [piece for part in parts for piece in np.split(part.ids, part.starts[1:])]
    order = rng.permutation(len(pieces))
    shuffled = [pieces[index] for index in order]
    return Documents(np.concatenate(shuffled), np.array([len(piece) for piece in shuffled]))


def _misread(
    documents: Documents, share: float, vocabulary: int, rng: np.random.Generator
) -> Documents:
    """The documents with a share of their words replaced by any word, as bad scans have."""
    wrong = rng.random(len(documents.ids)) < share
    random_words = rng.integers(1, vocabulary, size=len(documents.ids))  # 0 is end-of-text
    return Documents(np.where(wrong, random_words, documents.ids), documents.lengths)
