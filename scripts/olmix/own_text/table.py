"""What was found in each domain, as lines to read: a table, and what a person should know of it."""

from collections.abc import Mapping
from itertools import combinations

from olmix.own_text.held_out import chosen_documents
from olmix.own_text.prepare import Found
from olmix.own_text.prints import shared_documents
from olmix.own_text.project import Origin, StageRecord

__all__ = ["domain_table", "notes"]

# Shares of documents below these are not worth a word.
_SHARED = 0.01
_REPEATED = 0.05
_REASONS = {
    "binary": "not text",
    "empty": "empty",
    "broken": "broken line{s} of JSON or rows without text",
    "unreadable": "cannot be read",
}


def domain_table(stage: StageRecord) -> list[str]:
    """Files, documents, bytes, tokens and natural share of every domain."""
    total = sum(stage.tokens.values())
    rows: list[tuple[str, ...]] = [("domain", "files", "documents", "bytes", "tokens", "share")]
    for name, domain in stage.domains.items():
        share = "left out" if domain.left_out else _percent(domain.tokens / total)
        numbers = (domain.files, domain.documents, domain.bytes, domain.tokens)
        rows.append((name, *(f"{number:,}" for number in numbers), share))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.0005 else "< 0.1 %"


def notes(found: Mapping[str, Found], origin: Origin) -> list[str]:
    """What is odd: domains left out or without a task, files skipped or recoded, copies."""
    lines = []
    for name, entry in found.items():
        survey = entry.survey
        if entry.place is not None and entry.place.split(".")[0] != name != entry.place:
            lines.append(f"{name}: stands for {_one_line(entry.place)}")
        if entry.left_out:
            lines.append(f"{name}: left out of the mix: {entry.left_out}")
        elif origin.makes_tasks and not chosen_documents(survey):
            lines.append(
                f"{name}: {survey.documents:,} documents (large files count as several) are too "
                "few, or too much alike, to hold a tenth out: no task is made of it"
            )
        for kind, count in survey.skipped.items():
            what = _REASONS[kind].format(s="s" if count > 1 else "")
            examples = survey.examples[kind]
            lines.append(f"{name}: {count:,} {what}, left out, such as {_one_line(examples[0])}")
        if survey.recoded_files:
            files = f"{survey.recoded_files:,} file{'s' if survey.recoded_files > 1 else ''}"
            lines.append(f"{name}: {files} not UTF-8, read as UTF-16/32 or Windows-1252")
        if survey.sample.repeated > _REPEATED:
            about = "" if survey.sample.share == 1 else "about "
            lines.append(
                f"{name}: {about}{100 * survey.sample.repeated:.0f} % of its documents are copies "
                "of another one of it, or nearly"
            )
    return lines + _shared(found)


def _one_line(name: str) -> str:
    """A file's name, which may hold any character, without ends of lines."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def _shared(found: Mapping[str, Found]) -> list[str]:
    lines = []
    for one, other in combinations(found, 2):
        samples = found[one].survey.sample, found[other].survey.sample
        shares = shared_documents(*samples), shared_documents(*reversed(samples))
        if max(shares) > _SHARED:
            about = "" if samples[0].share == samples[1].share == 1 else "about "
            lines.append(
                f"{one} and {other} share documents, or nearly: {about}{100 * shares[0]:.0f} % of "
                f"the first, {100 * shares[1]:.0f} % of the second"
            )
    return lines
