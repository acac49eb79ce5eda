"""Where everything about one's own text is kept, and what was found at each stage of it.

A project is a scale (``config/scales/NAME.yaml``), its domains and updates
(``config/updates/NAME.yaml``) and a folder of data that both refer to.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from olmix.config_files import check_name
from olmix.corpus.store import folder_name
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.own_text.changes import Changes
from olmix.own_text.prints import ContentPrint
from olmix.paths import REPOSITORY

__all__ = ["DomainRecord", "Origin", "Project", "StageRecord"]


@dataclass(frozen=True)
class Origin:
    """Where the text comes from: a folder, or patterns by domain; and which field of rows is it.

    ``target`` is a folder of what the mix is chosen for, ``suite`` a task suite in its place; with
    neither, tasks are made from held-out documents of the domains.
    """

    folder: str | None = None
    patterns: dict[str, list[str]] = field(default_factory=dict)
    text_field: str = "text"
    target: str | None = None
    suite: str | None = None

    @property
    def makes_tasks(self) -> bool:
        """Whether tasks are made from what the domains hold out."""
        return self.target is None and self.suite is None


@dataclass(frozen=True)
class DomainRecord:
    """A domain as it was at a stage; ``stored`` is its name in the corpus, with its version."""

    stored: str
    version: str
    files: int
    documents: int
    bytes: int
    tokens: int
    made_from: str  # a print of its files
    content: dict[str, Any]  # a `ContentPrint`
    left_out: str | None = None  # why it takes no part in the mix

    @property
    def content_print(self) -> ContentPrint:
        """The print of the documents that the domain holds."""
        return ContentPrint.from_dict(self.content)


@dataclass(frozen=True)
class StageRecord:
    """The domains of a stage, how they changed, and what is held out so far.

    ``sources``: of the parts of a split domain, the source of the whole. ``renamed``: name of a
    folder now -> name in the mix, where the text is the same under another name. ``frozen``: the
    domains that keep their ratios to each other.
    """

    name: str
    domains: dict[str, DomainRecord]
    held_out: list[str]  # prints, in hex
    changes: Changes = field(default_factory=Changes)
    sources: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    frozen: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens of the domains that take part in the mix."""
        return {name: d.tokens for name, d in self.domains.items() if d.left_out is None}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "StageRecord":
        """The record as JSON has it."""
        domains = {name: DomainRecord(**entry) for name, entry in record["domains"].items()}
        return cls(
            **{**record, "domains": domains, "changes": Changes.from_dict(record["changes"])}
        )


@dataclass(frozen=True)
class Project:
    """The places of a project."""

    name: str
    root: Path = field(default_factory=lambda: REPOSITORY)

    def __post_init__(self) -> None:
        """Refuse a project whose name could not be a scale's."""
        check_name(self.name, "--name")
        if self.name != self.name.lower():
            raise OlmixError(f"--name {self.name}: expected lower-case letters, digits, '_', '-'")

    @property
    def scale_file(self) -> Path:
        """The scale, which a person may edit."""
        return self.root / "config" / "scales" / f"{self.name}.yaml"

    @property
    def updates_file(self) -> Path:
        """The domains and every update so far."""
        return self.root / "config" / "updates" / f"{self.name}.yaml"

    @property
    def data(self) -> Path:
        """The folder of all data."""
        return self.root / "data" / self.name

    @property
    def tokenizer(self) -> Path:
        """The tokenizer that was trained, or given."""
        return self.data / "tokenizer.json"

    @property
    def corpus(self) -> Path:
        """The folder of the tokenised domains."""
        return self.data / "corpus"

    def shards(self, stored: str) -> Path:
        """The folder of a domain's clean text."""
        return self.data / "text" / folder_name(stored)

    def survey(self, name: str, kind: str = "domains") -> Path:
        """What was found in a domain, or in a folder of the target (``kind`` target)."""
        return self.data / "surveys" / kind / f"{folder_name(name)}.json"

    def suite(self, stage: str) -> Path:
        """The tasks of a stage."""
        return self.data / "suites" / stage

    def proposed(self, stage: str) -> Path:
        """The mix that `snakemake mix` proposed at a stage."""
        proposals = self.root / "results" / self.name / "propose_mixes"
        return proposals / f"mix-{stage}" / "proposed.json"

    def mix(self, stage: str) -> Path:
        """The mix that a stage ended with, once there is a next one."""
        return self.data / "mixes" / f"{stage}.json"

    def keep_answer(self, stage: str) -> None:
        """Put the answer of a stage into the history: the next one takes its place in results."""
        answer, kept = self.root / "results" / "mix", self.data / "history" / stage
        record = answer / "provenance.json"
        if not record.is_file() or read_json(record)["scale"] != self.name:
            return
        if read_json(answer / "summary.json")["stage"] == stage:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(answer, kept)

    @property
    def record(self) -> Path:
        """The file of the project's record."""
        return self.data / "project.json"

    def relative(self, path: Path) -> str:
        """A path as the scale has it: from the folder of the clone."""
        return str(path.relative_to(self.root))

    def save(self, origin: Origin, stages: list[StageRecord]) -> None:
        """Write the project's record: where its text comes from, and its stages."""
        write_json(
            self.record,
            {"origin": asdict(origin), "stages": [asdict(stage) for stage in stages]},
        )

    def load(self) -> tuple[Origin, list[StageRecord]]:
        """Read the project's record: where its text comes from, and its stages."""
        if not self.record.is_file():
            raise OlmixError(
                f"{self.record}: no such file; expected a project that `python -m olmix init "
                f"FOLDER --name {self.name}` has made"
            )
        record = read_json(self.record)
        stages = [StageRecord.from_dict(entry) for entry in record["stages"]]
        return Origin(**record["origin"]), stages
