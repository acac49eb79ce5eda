"""What the design says of tasks and domains is true of the generated text."""

import re

import numpy as np
import pytest

from olmix.paths import CONFIG
from olmix.world.design import WorldDesign
from olmix.world.documents import all_documents
from olmix.world.skills import Grammar
from olmix.world.tasks import all_instances

DESIGN = WorldDesign.load(CONFIG / "world.yaml")


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar(DESIGN.words, DESIGN.skills, 0)


@pytest.fixture(scope="module")
def made(grammar):
    return all_documents(DESIGN, grammar, 0)


@pytest.fixture(scope="module")
def instances(grammar):
    return all_instances(DESIGN, grammar, 0)


def signature(grammar: Grammar, skill: str) -> str:
    """A pattern of the skill's sentences: its forms with every slot's words spelt out."""
    slots = grammar.skills[skill].slots
    patterns = []
    for form in DESIGN.skills[skill]["forms"]:
        parts = []
        for word in form.replace("|", " ").split():
            slot = word[1:-1] if re.fullmatch(r"{\w+}", word) else None
            words = grammar.classes[slots[slot].word_class] if slot else [word]
            parts.append("(?:" + "|".join(map(re.escape, words)) + ")")
        patterns.append(" ".join(parts))
    return "(?:" + "|".join(patterns) + ")"


@pytest.mark.parametrize("domain", ["web:health", "code:python", "papers", "pdf:history"])
def test_domains_hold_the_skills_the_design_gives_them(grammar, made, domain):
    """Counted in the text by regular expression, not taken from the generator."""
    documents = made[domain]
    text = f" {grammar.text(documents.ids)} "
    for skill, share in DESIGN.shares(domain).items():
        found = re.findall(rf"(?<= ){signature(grammar, skill)}(?= )", text)
        words = sum(len(sentence.split()) for sentence in found)
        # Sampling error of a share of tokens, for sentences of up to 15 words.
        tolerance = 4 * np.sqrt(share * 15 / len(documents.ids)) + 0.002
        assert words / len(documents.ids) == pytest.approx(share, abs=tolerance), skill


def test_each_task_has_support_in_several_domains_and_on_the_web():
    for task in DESIGN.tasks:
        helpers = DESIGN.expected_helpers(task)
        on_the_web = [domain for domain in helpers if domain.startswith("web:")]
        elsewhere = [domain for domain in helpers if not domain.startswith("web")]
        assert len(on_the_web) >= 2, task
        assert elsewhere, task
    assert "web:software_development" in DESIGN.expected_helpers("python")
    assert DESIGN.expected_helpers("python")[0] == "code:python"
    for task in DESIGN.tasks:
        assert "web:fashion_and_beauty" not in DESIGN.expected_helpers(task)


def test_misread_domains_support_a_task_less():
    support = DESIGN.support("medicine")
    misread = DESIGN.domains["pdf@1"].misread
    assert support["pdf@1"] == pytest.approx((1 - misread) * support["pdf@2"])
    parts = [name for name in DESIGN.domains if name.startswith("pdf:")]
    tokens = [DESIGN.domains[name].tokens for name in parts]
    mean = np.average([support[name] for name in parts], weights=tokens)
    assert support["pdf@2"] == pytest.approx(mean)


def test_families_and_sizes_of_tasks(instances):
    families = [task.family for task in DESIGN.tasks.values()]
    assert {family: families.count(family) for family in families} == {
        "maths": 4,
        "code": 5,
        "qa": 6,
    }
    for name, rows in instances.items():
        assert len(rows) >= 180, name
        assert len({tuple(prompt) for prompt, _ in rows}) == len(rows), name


def test_the_gold_follows_from_the_open_sentence_and_is_not_among_the_shots(grammar, instances):
    for name, rows in instances.items():
        answers: dict[str, str] = {}
        for prompt, gold in rows:
            text, answer = grammar.text(prompt), grammar.text(gold)
            skills = list(DESIGN.tasks[name].skills)
            solved = [re.match(signature(grammar, skill), text) for skill in skills]
            shot = next(match for match in solved if match)
            asked = text[shot.end() :].strip()
            assert answers.setdefault(asked, answer) == answer
            assert f"{asked} {answer}" != shot.group()
            assert any(
                re.fullmatch(signature(grammar, skill), f"{asked} {answer}") for skill in skills
            )


def test_golds_agree_with_the_documents(grammar, made, instances):
    """A fact asked for is told the same way by every domain that is not misread."""
    text = " ".join(grammar.text(made[name].ids) for name in ("encyclopedia", "pdf:history"))
    for prompt, gold in instances["geography"][:50]:
        asked = grammar.text(prompt).rpartition(". ")[2]
        assert set(re.findall(rf"{asked} (\S+ on the \S+ \.)", text)) == {grammar.text(gold)}


def test_no_instance_is_a_document(made, instances):
    """A document has at least four sentences, an instance two."""
    known = set()
    for documents in made.values():
        parts = np.split(documents.ids, documents.starts[1:])
        known.update(part.astype("<u2").tobytes() for part in parts if len(part) < 40)
    for rows in instances.values():
        for prompt, gold in rows:
            assert np.concatenate([prompt, gold]).astype("<u2").tobytes() not in known
