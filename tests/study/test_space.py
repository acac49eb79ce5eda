import numpy as np
import pytest

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.study.space import open_space, stage_domains, stored_mix
from olmix.study.spec import SpaceSpec
from olmix.updates.operators import Add, Revise, Update
from olmix.updates.sequence import Step, UpdateSequence

INITIAL = DomainSet.from_token_counts({"web:a": 30, "web:b": 10, "web:c": 20})
ADDED = Step("more", Update((Add((Domain.named("books", 40),)),)))
REVISED = Step("better", Update((Revise("books", 50),)))


@pytest.fixture
def sequence():
    return UpdateSequence(INITIAL, (ADDED, REVISED))


def test_stages_by_name(sequence):
    assert stage_domains(sequence, "initial") == INITIAL
    assert stage_domains(sequence, "more")["books"].tokens == 40
    final = stage_domains(sequence, "final")
    assert final == stage_domains(sequence, "better")
    assert (final["books"].tokens, final["books"].version) == (50, "2")
    with pytest.raises(OlmixError, match="no stage 'last', expected one of initial, more, better"):
        stage_domains(sequence, "last")


def test_the_plain_space_changes_nothing(sequence):
    space = open_space(SpaceSpec("more"), sequence)
    assert space.names == ("web:a", "web:b", "web:c", "books")
    mix = Mix(space.names, [0.1, 0.2, 0.3, 0.4])
    assert space.expand(mix) == mix


def test_the_largest_domains_in_their_order(sequence):
    space = open_space(SpaceSpec("more", largest=3), sequence)
    assert space.names == space.domains.names == ("web:a", "web:c", "books")
    assert space.domains.natural().weights == pytest.approx([30 / 90, 20 / 90, 40 / 90])
    with pytest.raises(OlmixError, match="5 largest domains of 4"):
        open_space(SpaceSpec("more", largest=5), sequence)


def test_sources_are_natural_inside(sequence):
    space = open_space(SpaceSpec("final", split="sources"), sequence)
    assert space.names == ("web", "books")
    expanded = space.expand(Mix(("web", "books"), [0.6, 0.4]))
    assert expanded.to_dict() == pytest.approx(
        {"web:a": 0.3, "web:b": 0.1, "web:c": 0.2, "books": 0.4}
    )
    with pytest.raises(OlmixError, match="split is 'topics', expected none or sources"):
        open_space(SpaceSpec(split="topics"), sequence)


def test_mixes_over_what_a_corpus_stores():
    domains = DomainSet((
        Domain.named("web:a", 5), Domain.named("pdf", 40, version="2"), Domain.named("code", 9),
        Domain.named("maths", 3),
    ))  # fmt: skip
    mix = Mix(domains.names, [0.5, 0.3, 0.2, 0.0])
    stored = {"web:a": 5, "pdf": 40, "pdf@2": 40, "code:py": 6, "code:rs": 2, "codes": 99}
    found = stored_mix(mix, domains, stored)
    # The version where there is one; a source by its topics, naturally; nothing for a zero.
    assert found == pytest.approx({"web:a": 0.5, "pdf@2": 0.3, "code:py": 0.15, "code:rs": 0.05})
    assert sum(found.values()) == pytest.approx(1)
    only = {"pdf@2": 40, "web:a": 5, "code": 9}
    assert stored_mix(mix, domains, only) == {"web:a": 0.5, "pdf@2": 0.3, "code": 0.2}
    del stored["pdf@2"]
    assert stored_mix(mix, domains, stored)["pdf"] == pytest.approx(0.3)
    with pytest.raises(OlmixError, match="the corpus has no domain 'maths'"):
        stored_mix(Mix(domains.names, np.full(4, 0.25)), domains, stored)
