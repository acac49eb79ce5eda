"""The stages of a project: the first one from a folder, the next ones from what changed in it."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from olmix.corpus.tokenize import DomainSummary
from olmix.domains import Domain
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.own_text.changes import Changes, find_changes
from olmix.own_text.held_out import MOST_DOCUMENTS
from olmix.own_text.prepare import (
    Found,
    Tokenizing,
    hold_out,
    look_at_target,
    make_corpus,
    make_suite,
)
from olmix.own_text.project import DomainRecord, Origin, Project, StageRecord
from olmix.own_text.survey import Candidate
from olmix.updates.sequence import INITIAL

__all__ = ["NothingChangedError", "first_stage", "next_stage", "take_part"]


class NothingChangedError(OlmixError):
    """There is no next stage: the domains hold what they held."""


def take_part(found: Mapping[str, Found]) -> dict[str, Found]:
    """The domains with enough text for a mix; fewer than two are refused."""
    enough = {name: entry for name, entry in found.items() if entry.left_out is None}
    if len(enough) < 2:
        left = "; ".join(f"{name}: {e.left_out}" for name, e in found.items() if e.left_out)
        raise OlmixError(
            f"{len(enough)} domains with text, a mix needs two at least ({left or 'no more there'})"
        )
    return enough


def first_stage(
    project: Project,
    origin: Origin,
    found: Mapping[str, Found],
    tokenizing: Tokenizing,
    processes: int,
) -> StageRecord:
    """Tokenise what was found in a folder, and make its tasks."""
    enough = take_part(found)
    documents = _documents(project, origin, enough, {}, processes)
    held_out = _prints(documents)
    summaries = make_corpus(
        project,
        enough,
        {name: name for name in enough},
        held_out,
        text_field=origin.text_field,
        processes=processes,
        tokenizing=tokenizing,
    )
    suite = None if origin.suite is None else Suite.open(origin.suite)
    make_suite(project, INITIAL, documents, suite)
    domains = {name: _record(e, summaries.get(name), name, "1") for name, e in found.items()}
    return StageRecord(INITIAL, domains, _hex(held_out))


def next_stage(
    project: Project,
    origin: Origin,
    stages: Sequence[StageRecord],
    found: Mapping[str, Found],
    processes: int,
) -> StageRecord:
    """Tokenise what is new since the last stage, and give its name to what happened."""
    last = stages[-1]
    found = {last.renamed.get(name, name): entry for name, entry in found.items()}
    enough = take_part(found)
    before = {name: last.domains[name].content_print for name in last.tokens}
    changes = find_changes(before, {name: e.survey.content for name, e in enough.items()})
    if not changes:
        raise NothingChangedError(
            f"nothing changed since stage '{last.name}': the same {len(before)} domains hold the "
            "same documents"
        )
    found, enough = _old_names(found, changes), _old_names(enough, changes)
    new = {name: enough[name] for name in (*changes.added, *changes.revised)}
    parts = {part: enough[part] for names in changes.split.values() for part in names}
    versions = {name: _next_version(name, stages) for name in (*new, *parts)}
    stored = {n: n if v == "1" else f"{n}@{v}" for n, v in versions.items()}
    others = {name: entry for name, entry in enough.items() if name not in new}
    documents = {}
    if origin.makes_tasks:
        documents = _documents(project, origin, new, others, processes)
    known = frozenset(int(entry, 16) for entry in last.held_out)
    options = {
        "text_field": origin.text_field,
        "processes": processes,
        "tokenizing": Tokenizing(),
    }
    # Parts hold out what the whole did, and no more: together they are the whole.
    summaries = _corpus(project, parts, stored, known, options)
    summaries |= _corpus(project, new, stored, known | _prints(documents), options)
    name = _stage_name(changes, [stage.name for stage in stages])
    gone = {*changes.removed, *changes.revised} if origin.makes_tasks else set()
    make_suite(project, name, documents, Suite.open(project.suite(last.name)), gone)
    domains = {}
    for domain, entry in found.items():
        kept = last.domains.get(domain)
        if domain in stored or kept is None or entry.left_out:
            version = versions.get(domain, "1")
            in_corpus = stored.get(domain, domain)
            domains[domain] = _record(entry, summaries.get(domain), in_corpus, version)
        else:
            domains[domain] = replace(kept, made_from=entry.made_from)
    return StageRecord(
        name,
        domains,
        _hex(known | _prints(documents)),
        changes,
        sources=last.sources | _sources(last, changes),
        renamed=last.renamed | dict(changes.renamed),
    )


def _documents(
    project: Project,
    origin: Origin,
    new: Mapping[str, Found],
    others: Mapping[str, Found],
    processes: int,
) -> dict[str, list[Candidate]]:
    """What new tasks are made of: held-out documents, those of the target, or none for a suite."""
    if origin.suite is not None:
        return {}
    if origin.target is None:
        return hold_out(new, others)
    target = look_at_target(project, origin.target, origin.text_field, processes)
    return {name: entry.survey.candidates[:MOST_DOCUMENTS] for name, entry in target.items()}


def _corpus(
    project: Project,
    found: Mapping[str, Found],
    stored: Mapping[str, str],
    held_out: frozenset[int],
    options: Mapping,
) -> dict[str, DomainSummary]:
    if not found:
        return {}
    return make_corpus(project, found, {name: stored[name] for name in found}, held_out, **options)


def _record(found: Found, summary: DomainSummary | None, stored: str, version: str) -> DomainRecord:
    survey = found.survey
    return DomainRecord(
        stored=stored,
        version=version,
        files=survey.files,
        documents=survey.documents,
        bytes=survey.bytes,
        tokens=summary.tokens if summary else 0,
        made_from=found.made_from,
        content=survey.content.to_dict(),
        left_out=found.left_out,
    )


def _prints(documents: Mapping[str, Collection[Candidate]]) -> frozenset[int]:
    """What copies of some documents are known by, and near copies."""
    return frozenset(
        found for chosen in documents.values() for entry in chosen for found in entry.prints
    )


def _hex(prints: Iterable[int]) -> list[str]:
    return [f"{entry:x}" for entry in sorted(prints)]


def _old_names(found: Mapping[str, Found], changes: Changes) -> dict[str, Found]:
    return {changes.renamed.get(name, name): entry for name, entry in found.items()}


def _next_version(name: str, stages: Sequence[StageRecord]) -> str:
    """The version of a domain whose text is new: one more than any of its name so far."""
    known = [stage.domains[name] for stage in stages if name in stage.domains]
    return str(1 + max((int(d.version) for d in known if d.left_out is None), default=0))


def _sources(last: StageRecord, changes: Changes) -> dict[str, str]:
    """The parts of a split domain stay in its source."""
    return {
        part: last.sources.get(whole, Domain.named(whole, 1).source)
        for whole, parts in changes.split.items()
        for part in parts
    }


def _stage_name(changes: Changes, taken: Collection[str]) -> str:
    """What happened and to which domain first, such as ``add_news``; numbered if it was there."""
    happened = {
        "add": changes.added,
        "split": tuple(changes.split),
        "revise": changes.revised,
        "remove": changes.removed,
    }
    words = [
        f"{what}_{names[0]}" + (f"_and_{len(names) - 1}_more" if len(names) > 1 else "")
        for what, names in happened.items()
        if names
    ]
    name = re.sub(r"[^A-Za-z0-9_-]", "_", "-".join(words))
    number = next(n for n in range(1, len(taken) + 2) if _numbered(name, n) not in taken)
    return _numbered(name, number)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"
