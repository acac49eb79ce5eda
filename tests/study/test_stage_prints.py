"""Fingerprints change with what they stand for, and with nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from olmix.domains import DomainSet
from olmix.study.stage_prints import domain_prints, lineage_prints
from olmix.updates.sequence import UpdateSequence, load_updates

UPDATES = Path(__file__).parents[2] / "config" / "updates" / "smoke.yaml"
STAGES = ["initial", "add_code", "add_sources", "revise_pdfs", "remove_algebra_code",
          "partition_pdfs"]  # fmt: skip


def edited(sequence: UpdateSequence, name: str, **changes) -> UpdateSequence:
    steps = [replace(s, **changes) if s.name == name else s for s in sequence.steps]
    return UpdateSequence(sequence.initial, tuple(steps), sequence.reuse_within)


def changed(prints, one, other) -> list[str]:
    before, after = prints(one), prints(other)
    assert set(before) == set(after)
    return [stage for stage in before if before[stage] != after[stage]]


@pytest.fixture
def sequence() -> UpdateSequence:
    return load_updates(UPDATES)


@pytest.mark.parametrize(
    "change",
    [
        {"recompute": ("web:health",)},
        {"prior": {"web": 0.5, "code": 0.2, "maths": 0.15, "pdf": 0.1, "algebra_code": 0.05}},
    ],
)
def test_an_edit_is_seen_from_its_stage_on(sequence, change):
    other = edited(sequence, "revise_pdfs", **change)
    assert changed(lineage_prints, sequence, other) == STAGES[3:]
    # Single runs do not see it: the domains are the same.
    assert changed(domain_prints, sequence, other) == []


def test_a_stage_knows_nothing_of_later_ones(sequence):
    shorter = UpdateSequence(sequence.initial, sequence.steps[:-1], sequence.reuse_within)
    whole = lineage_prints(sequence)
    assert list(whole) == STAGES
    assert lineage_prints(shorter) == {stage: whole[stage] for stage in STAGES[:-1]}


def test_runs_see_which_domains_a_stage_has(sequence):
    prints = domain_prints(sequence)
    assert prints["final"] == prints["partition_pdfs"]
    # All differ: revising keeps the names, not the contents.
    assert len({prints[stage] for stage in STAGES}) == len(STAGES)


def test_what_reuse_keeps_together_is_seen_from_the_first_update_on(sequence):
    other = UpdateSequence(sequence.initial, sequence.steps, ("web",))
    assert changed(lineage_prints, sequence, other) == STAGES[1:]


def test_counts_are_the_datas_business(sequence):
    domains = [replace(domain, tokens=domain.tokens + 7) for domain in sequence.initial]
    other = replace(sequence, initial=DomainSet(tuple(domains)))
    assert changed(lineage_prints, sequence, other) == []
    assert changed(domain_prints, sequence, other) == []


def test_an_initial_prior_is_seen_from_the_initial_stage_on(sequence):
    other = replace(sequence, initial_prior={"web": 1.0})
    assert changed(lineage_prints, sequence, other) == STAGES
    assert changed(domain_prints, sequence, other) == []
