"""From files to what can be trained on: surveyed, held out, gathered, tokenised, with tasks.

Every step keeps what it has finished: interrupted and started again, it goes on.
"""

import shutil
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from olmix.corpus.sources import source_from_patterns
from olmix.corpus.store import folder_name
from olmix.corpus.tokenize import DomainSummary, TokenizingProgress, tokenize
from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite, SuiteWriter
from olmix.files import read_json, replacing, sha256, write_json
from olmix.own_text.batches import file_size
from olmix.own_text.gather import files_print, gather
from olmix.own_text.held_out import FAMILY, chosen_documents, instances_of
from olmix.own_text.naming import domain_files, domains_of_folder, plain_name
from olmix.own_text.project import Origin, Project
from olmix.own_text.survey import Candidate, DomainSurvey, survey_domains
from olmix.own_text.vocabulary import fitting_size, train_tokenizer

__all__ = [
    "Found",
    "Tokenizing",
    "hold_out",
    "look",
    "look_at_target",
    "make_corpus",
    "make_suite",
    "target_folders",
]

# A domain of less text is left out: a weight for it would say nothing.
SMALLEST_BYTES = 10_000
REPORT_SECONDS = 5.0
# Bytes that take a moment to read.
WORTH_A_LINE = 10**7


@dataclass(frozen=True)
class Found:
    """A domain as it lies in its files."""

    files: list[Path]
    made_from: str
    survey: DomainSurvey
    place: str | None = None  # its folder or file, if it is one

    @property
    def left_out(self) -> str | None:
        """Why the domain takes no part in the mix, or None if it does."""
        if not self.survey.documents:
            return "holds no text"
        if self.survey.bytes < SMALLEST_BYTES:
            return f"only {self.survey.bytes:,} bytes of text, {SMALLEST_BYTES:,} are expected"
        return None


@dataclass(frozen=True)
class Tokenizing:
    """Where the tokenizer comes from: a file, or trained, of so many words or at most so many."""

    given: Path | None = None
    words: int | None = None
    most_words: int = 2048


def look(project: Project, origin: Origin, processes: int) -> dict[str, Found]:
    """Read every domain; those whose files are as they were are not read again."""
    places: Mapping[str, Path | list[str]] = origin.patterns
    if origin.folder is not None:
        places = domains_of_folder(origin.folder)
    return _look(project, places, "domains", origin.text_field, processes)


def look_at_target(
    project: Project, target: str, text_field: str, processes: int
) -> dict[str, Found]:
    """Read the folder that says what the mix is for: a task per sub-folder, or one in all."""
    return _look(project, target_folders(Path(target)), "target", text_field, processes)


def target_folders(folder: Path) -> dict[str, Path]:
    """The folder of each task, below the folder that says what the mix is for."""
    if not folder.is_dir():
        raise OlmixError(f"--target {folder}: no such folder")
    folders = {name: place for name, place in domains_of_folder(folder).items() if place.is_dir()}
    return folders or {plain_name(folder.resolve().name): folder}


def _look(
    project: Project,
    places: Mapping[str, Path | list[str]],
    kind: str,
    text_field: str,
    processes: int,
) -> dict[str, Found]:
    files = {name: domain_files(place) for name, place in places.items()}
    keys = {name: files_print(paths) + text_field for name, paths in files.items()}
    known = {}
    for name in files:
        if (survey := _known_survey(project.survey(name, kind), keys[name])) is not None:
            known[name] = survey
    unread = {name: paths for name, paths in files.items() if name not in known}
    size = sum(file_size(path) for paths in unread.values() for path in paths)
    if size >= WORTH_A_LINE:
        _tell(f"reading {size / 1e6:,.0f} MB")
    found = survey_domains(
        unread, text_field=text_field, processes=processes, on_progress=progress("reading")
    )
    known |= dict.fromkeys(unread, DomainSurvey())
    for name, survey in found:
        known[name] = survey
        record = {"made_from": keys[name], "survey": survey.to_dict()}
        write_json(project.survey(name, kind), record)
    return {
        name: Found(
            files[name], keys[name], known[name], place.name if isinstance(place, Path) else None
        )
        for name, place in places.items()
    }


def _known_survey(path: Path, key: str) -> DomainSurvey | None:
    if not path.is_file():
        return None
    record = read_json(path)
    return DomainSurvey.from_dict(record["survey"]) if record["made_from"] == key else None


def make_corpus(
    project: Project,
    found: Mapping[str, Found],
    stored: Mapping[str, str],
    held_out: frozenset[int],
    *,
    text_field: str,
    processes: int,
    tokenizing: Tokenizing,
) -> dict[str, DomainSummary]:
    """Gather and tokenise some domains; ``stored`` are their names in the corpus."""
    _check_folders(project, stored)
    folders = {name: project.shards(stored[name]) for name in stored}
    gather(
        {name: found[name].files for name in stored},
        folders,
        held_out,
        text_field=text_field,
        processes=processes,
        on_progress=progress("gathering"),
    )
    shards = {name: sorted(folder.glob("*.jsonl.zst")) for name, folder in folders.items()}
    for name, paths in shards.items():
        if not paths:
            raise OlmixError(f"domain '{name}': nothing is left of it, all its documents are tasks")
    _make_tokenizer(project, tokenizing, shards, sum(found[n].survey.bytes for n in stored))
    patterns = {stored[name]: list(map(str, paths)) for name, paths in shards.items()}
    summaries = tokenize(
        [source_from_patterns(patterns)],
        project.corpus,
        project.tokenizer,
        processes=processes,
        on_progress=_tell_tokens,
    )
    names = {in_corpus: name for name, in_corpus in stored.items()}
    return {names[summary.domain]: summary for summary in summaries}


def _check_folders(project: Project, stored: Mapping[str, str]) -> None:
    """Refuse two domains that would share a folder on disk."""
    owners = {
        path.parent.name: read_json(path)["domain"]
        for path in project.corpus.glob("*/manifest.json")
    }
    for name, in_corpus in stored.items():
        other = owners.setdefault(folder_name(in_corpus), in_corpus)
        if other != in_corpus:
            raise OlmixError(
                f"domains '{name}' and '{other}' would share the folder "
                f"{folder_name(in_corpus)}: rename one"
            )


def _make_tokenizer(
    project: Project, tokenizing: Tokenizing, shards: Mapping[str, list[Path]], text_bytes: int
) -> None:
    """Make the project's tokenizer, once: a copy of the one given, or one trained on the text.

    Asked for another one by a later `init`, what was tokenised is made again.
    """
    before = sha256(project.tokenizer) if project.tokenizer.is_file() else None
    if before is not None and _is_asked_for(tokenizing, project.tokenizer):
        return
    if tokenizing.given is not None:
        load_tokenizer(tokenizing.given)
        with replacing(project.tokenizer) as temporary:
            shutil.copyfile(tokenizing.given, temporary)
    else:
        words = tokenizing.words or fitting_size(text_bytes, tokenizing.most_words)
        _tell(f"training a byte-level BPE tokenizer of {words:,} words")
        train_tokenizer(shards, words, project.tokenizer)
    if before not in (None, sha256(project.tokenizer)):
        shutil.rmtree(project.corpus, ignore_errors=True)  # another tokenizer's


def _is_asked_for(tokenizing: Tokenizing, there: Path) -> bool:
    """Whether the tokenizer of an earlier call is the one that is asked for now."""
    if tokenizing.given is not None:
        return sha256(tokenizing.given) == sha256(there)
    return tokenizing.words in (None, load_tokenizer(there)[1].vocab_size)


def hold_out(found: Mapping[str, Found], others: Mapping[str, Found]) -> dict[str, list[Candidate]]:
    """The documents to hold out of some domains.

    None that another domain, whose text is gathered already, has (nearly) too: it is trained on.
    """
    taken = {near for other in others.values() for near in other.survey.sample.counts}
    chosen = {}
    for name, entry in found.items():
        documents = chosen_documents(entry.survey)
        chosen[name] = [entry for entry in documents if entry.prints.near not in taken]
    return chosen


def make_suite(
    project: Project,
    stage: str,
    documents: Mapping[str, list[Candidate]],
    kept: Suite | None = None,
    without: Collection[str] = (),
) -> Suite:
    """Write the tasks of a stage: those of an earlier suite that are kept, then new ones."""
    folder = project.suite(stage)
    made = 0
    with SuiteWriter(folder, f"{project.name}-{stage}") as writer:
        if kept is not None:
            for task in kept.tasks:
                if task.name in without or task.name in documents:
                    continue
                if task.mean_of:
                    writer.add_mean(task.name, task.family, task.mean_of, task.about)
                else:
                    writer.add(task.name, task.family, kept.instances(task), task.about)
                made += 1
        for name, chosen in documents.items():
            instances = instances_of(chosen)
            if instances:
                writer.add(name, FAMILY, instances)
                made += 1
        if not made:
            raise OlmixError(
                "no domain has enough documents to hold any out (10 at least): say what the mix "
                "is for with --target FOLDER or --suite FOLDER"
            )
    return Suite.open(folder)


def progress(what: str) -> Callable[[int, int], None]:
    """A line now and then: bytes read, of how many."""
    shown = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > REPORT_SECONDS:
            shown = time.monotonic()
            _tell(f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    return show


def _tell_tokens(done: TokenizingProgress) -> None:
    if done.tokens:
        _tell(f"tokenising: {done.tokens:,} tokens")


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
