"""Write a world to disk: tokenizer, corpus, task suite, domain file and design record.

::

    out/tokenizer.json     word-level tokenizer
    out/corpus/<domain>/   a token store per domain, unions and versions included
    out/suites/tiny/       prompts with gold continuations
    out/domains.json       the domains with their exact token counts
    out/design.json        what was designed in: which domain holds which skill, who helps whom

The same seed and design give the same bytes. The folder appears whole or not at all.
"""

import shutil
import uuid
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from olmix.corpus.store import StoreWriter, folder_name
from olmix.corpus.tokenizer import load_tokenizer
from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.evaluation.suite import SuiteWriter
from olmix.files import write_json, write_text
from olmix.world.design import WorldDesign
from olmix.world.documents import Documents, all_documents
from olmix.world.skills import Grammar
from olmix.world.tasks import all_instances
from olmix.world.words import END_OF_TEXT

__all__ = ["SUITE", "build_world"]

SUITE = "tiny"
"""Name of the world's task suite."""


def build_world(design: WorldDesign, seed: int, out: str | Path) -> dict[str, Any]:
    """Make the world of a seed in the folder ``out`` and return its design record.

    A world already there is replaced; any other non-empty folder is refused.
    """
    out = Path(out)
    in_use = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if in_use and not (out / "design.json").is_file():
        raise OlmixError(f"{out}: is there and is not a world; expected a new or empty folder")
    grammar = Grammar(design.words, design.skills, seed)
    documents = all_documents(design, grammar, seed)
    building = out.with_name(f".{out.name}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        _write_tokenizer(grammar, building / "tokenizer.json")
        tokens = _write_corpus(grammar, documents, building)
        _write_suite(design, grammar, seed, building / "suites" / SUITE)
        _domain_set(design, tokens).save(building / "domains.json")
        record = _record(design, grammar, seed, tokens)
        write_json(building / "design.json", record)
        if out.exists():
            shutil.rmtree(out)
        building.rename(out)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return record


def _write_tokenizer(grammar: Grammar, path: Path) -> None:
    """A word is a token; a word the world does not have is an error and not a token."""
    tokenizer = Tokenizer(WordLevel(grammar.ids))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens([END_OF_TEXT])
    write_text(path, tokenizer.to_str(pretty=True) + "\n")


def _write_corpus(grammar: Grammar, made: dict[str, Documents], out: Path) -> dict[str, int]:
    """Write a token store per domain; returns the tokens of each, ends of text included."""
    _, info = load_tokenizer(out / "tokenizer.json")
    tokens = {}
    for domain, documents in made.items():
        packed = documents.packed(info.end_of_text)
        tokens[domain] = len(packed)
        folder = out / "corpus" / folder_name(domain)
        with StoreWriter(folder, domain=domain, tokenizer=info) as writer:
            writer.add_packed(
                packed,
                bytes=documents.text_bytes(grammar.word_bytes),
                documents=len(documents.lengths),
            )
    return tokens


def _write_suite(design: WorldDesign, grammar: Grammar, seed: int, folder: Path) -> None:
    with SuiteWriter(folder, SUITE) as writer:
        for task, instances in all_instances(design, grammar, seed).items():
            # The space before the gold belongs to it, as in the paper's suite.
            rows = [(grammar.text(prompt), f" {grammar.text(gold)}") for prompt, gold in instances]
            about = {"shots": design.shots, "skills": dict(design.tasks[task].skills)}
            writer.add(task, design.tasks[task].family, rows, about)


def _domain_set(design: WorldDesign, tokens: dict[str, int]) -> DomainSet:
    """The domains at their finest; a source as one domain is the sum of its topics."""
    return DomainSet(
        tuple(
            Domain(domain.name, domain.source, domain.topic, tokens[domain.name])
            for domain in design.domains.values()
            if domain.skills is not None
        )
    )


def _record(
    design: WorldDesign, grammar: Grammar, seed: int, tokens: dict[str, int]
) -> dict[str, Any]:
    """What was designed in, as ``design.json`` holds it."""
    return {
        "seed": seed,
        "vocabulary": len(grammar.vocabulary),
        "leak": design.leak,
        "skills": {
            name: {
                "forms": list(design.skills[name]["forms"]),
                "relations": sorted(skill.relations),
            }
            for name, skill in grammar.skills.items()
        },
        "domains": {
            name: {
                "source": domain.source,
                "topic": domain.topic,
                "version": domain.version,
                "tokens": tokens[name],
                "skills": {skill: round(share, 6) for skill, share in design.shares(name).items()},
                "misread": domain.misread,
                "union_of": list(domain.union_of),
                "copy_of": domain.copy_of,
            }
            for name, domain in design.domains.items()
        },
        "tasks": {
            name: {
                "family": task.family,
                "skills": dict(task.skills),
                "support": {
                    domain: round(share, 6) for domain, share in design.support(name).items()
                },
                "expected_helpers": design.expected_helpers(name),
            }
            for name, task in design.tasks.items()
        },
    }
