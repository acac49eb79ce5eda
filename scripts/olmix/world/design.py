"""The design of a world: its skills, domains and tasks, and which feeds which.

The design is data (config/world.yaml). What follows from it is written to ``design.json`` beside
the corpus, so that a result can be held against what was designed in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.config_files import check_keys, read_config
from olmix.errors import OlmixError

__all__ = ["DomainDesign", "TaskDesign", "WorldDesign"]

KEYS = (
    "description", "words", "skills", "leak", "sentences", "domains", "shots", "instances", "tasks",
)  # fmt: skip


@dataclass(frozen=True)
class DomainDesign:
    """One domain: its own text, the union of others, or a misread copy of another."""

    name: str
    tokens: int = 0
    skills: Mapping[str, float] | None = None  # share of its tokens; None: made from other domains
    union_of: tuple[str, ...] = ()
    copy_of: str | None = None
    misread: float = 0.0  # share of its words replaced by random ones

    @property
    def source(self) -> str:
        """``pdf`` for ``pdf@2`` and ``pdf:health``."""
        return self.name.partition(":")[0].partition("@")[0]

    @property
    def topic(self) -> str | None:
        """``health`` for ``pdf:health``."""
        return self.name.partition(":")[2] or None

    @property
    def version(self) -> str:
        """``2`` for ``pdf@2``; a name without one is of version 1."""
        return self.name.partition("@")[2] or "1"


@dataclass(frozen=True)
class TaskDesign:
    """One task: its family and the skills its instances come from, with their shares."""

    name: str
    family: str
    skills: Mapping[str, float]


@dataclass(frozen=True)
class WorldDesign:
    """Everything config/world.yaml says."""

    words: Mapping[str, Any]
    skills: Mapping[str, Any]
    leak: float
    sentences: tuple[int, int]
    domains: Mapping[str, DomainDesign]
    shots: int
    instances: int
    tasks: Mapping[str, TaskDesign]

    @classmethod
    def load(cls, path: str | Path) -> "WorldDesign":
        """Read a design file; what does not fit together is refused with its place."""
        content = read_config(path)
        try:
            check_keys(content, KEYS, KEYS[1:], where="world design")
            return cls._from_dict(content)
        except OlmixError as error:
            raise OlmixError(f"{path}: {error}") from None

    @classmethod
    def _from_dict(cls, content: Mapping[str, Any]) -> "WorldDesign":
        skills = content["skills"]
        leak = float(content["leak"])
        if not 0 <= leak < 1:
            raise OlmixError(f"leak is {leak}, expected a share from 0 to less than 1")
        domains: dict[str, DomainDesign] = {}
        for name, entry in content["domains"].items():
            domains[name] = _domain(name, entry, skills, leak, domains)
        tasks = {name: _task(name, entry, skills) for name, entry in content["tasks"].items()}
        sentences = content["sentences"]
        if len(sentences) != 2 or not 1 <= sentences[0] <= sentences[1]:
            raise OlmixError(f"sentences are {sentences}, expected the fewest and the most")
        for key, least in (("shots", 0), ("instances", 1)):
            if not isinstance(content[key], int) or content[key] < least:
                raise OlmixError(f"{key} is {content[key]!r}, expected {least} or more")
        return cls(
            words=content["words"],
            skills=skills,
            leak=leak,
            sentences=(int(sentences[0]), int(sentences[1])),
            domains=domains,
            shots=content["shots"],
            instances=content["instances"],
            tasks=tasks,
        )

    def shares(self, domain: str) -> dict[str, float]:
        """The share of a domain's tokens that each skill has, the leak included."""
        design = self.domains[domain]
        if design.copy_of is not None:
            return self.shares(design.copy_of)
        if design.union_of:
            parts = [(self.domains[part].tokens, self.shares(part)) for part in design.union_of]
            total = sum(tokens for tokens, _ in parts)
            return {
                skill: sum(tokens * shares[skill] for tokens, shares in parts) / total
                for skill in self.skills
            }
        return dict(design.skills or {})

    def support(self, task: str) -> dict[str, float]:
        """For each domain, the share of its words that shows what the task asks for, rightly."""
        needed = self.tasks[task].skills
        return {
            name: (1 - domain.misread)
            * sum(weight * self.shares(name)[skill] for skill, weight in needed.items())
            for name, domain in self.domains.items()
        }

    def expected_helpers(self, task: str) -> list[str]:
        """The domains designed to help a task, best first: those with more than the leak gives."""
        leaked = self.leak / len(self.skills)
        support = self.support(task)
        helpers = [domain for domain, share in support.items() if share > 2 * leaked]
        return sorted(helpers, key=lambda domain: -support[domain])


def _domain(
    name: str,
    entry: Mapping[str, Any],
    skills: Mapping[str, Any],
    leak: float,
    earlier: Mapping[str, DomainDesign],
) -> DomainDesign:
    """The domain that one entry of ``domains`` in a design file describes."""
    where = f"domain '{name}'"
    check_keys(entry, ("tokens", "skills", "union_of", "copy_of", "misread"), where=where)
    ways = [key for key in ("skills", "union_of", "copy_of") if key in entry]
    if len(ways) != 1 or ("tokens" in entry) != (ways == ["skills"]):
        raise OlmixError(f"{where}: expected tokens and skills, or union_of, or copy_of")
    misread = float(entry.get("misread", 0.0))
    if not 0 <= misread < 1:
        raise OlmixError(f"{where}: misread is {misread}, expected a share from 0 to less than 1")
    parts = tuple(entry.get("union_of", ())) + ((entry["copy_of"],) if "copy_of" in entry else ())
    for part in parts:
        if part not in earlier:
            raise OlmixError(f"{where}: is made from '{part}', which is not above it")
    if "skills" not in entry:
        tokens = sum(earlier[part].tokens for part in parts)
        return DomainDesign(
            name, tokens, None, tuple(entry.get("union_of", ())), entry.get("copy_of"), misread
        )
    tokens = entry["tokens"]
    if not isinstance(tokens, int) or tokens <= 0:
        raise OlmixError(f"{where}: tokens is {tokens!r}, expected a whole number above 0")
    own = _shares(entry["skills"], skills, where)
    spread = leak / len(skills)
    return DomainDesign(
        name,
        tokens,
        {skill: (1 - leak) * own.get(skill, 0.0) + spread for skill in skills},
        misread=misread,
    )


def _task(name: str, entry: Mapping[str, Any], skills: Mapping[str, Any]) -> TaskDesign:
    """The task that one entry of ``tasks`` in a design file describes."""
    where = f"task '{name}'"
    check_keys(entry, ("family", "skills"), ("family", "skills"), where=where)
    return TaskDesign(name, str(entry["family"]), _shares(entry["skills"], skills, where))


def _shares(entry: Mapping[str, Any], skills: Mapping[str, Any], where: str) -> dict[str, float]:
    """The skills of an entry with their shares, which must sum to 1."""
    for skill, share in entry.items():
        if skill not in skills:
            raise OlmixError(f"{where}: no skill '{skill}'")
        if not isinstance(share, int | float) or not 0 < share <= 1:
            raise OlmixError(f"{where}: the share of '{skill}' is {share!r}, expected 0 to 1")
    total = sum(entry.values())
    if abs(total - 1) > 1e-6:
        raise OlmixError(f"{where}: the shares sum to {total:.6g}, expected 1")
    return {skill: float(share) for skill, share in entry.items()}
