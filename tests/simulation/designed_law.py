"""A law designed to look like the paper's domains and tasks: skills taught and skills needed.

``law.yaml`` beside this file says what is designed in, and why. The law is over what a corpus would
store: the domains at their finest, and earlier contents of revised ones. Any stage's mix is a mix
over these (`olmix.study.space.stored_mix`), so one law serves all stages: a partitioned domain is
the token-weighted union of its parts, and log-linear wherever its parts are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from olmix.config_files import check_keys, read_config
from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.files import content_hash
from olmix.simulation.law import Law

__all__ = ["LawDesign"]

_KEYS = (
    "description", "domains", "tasks", "former", "teaches", "needs", "concentration",
    "level_spread", "own", "strength", "constant", "noise",
)  # fmt: skip


@dataclass(frozen=True)
class LawDesign:
    """The contents of a law file, with the domains and tasks it names.

    ``catalogue`` are the domains that stages are made of; ``families`` the tasks by family.
    """

    catalogue: DomainSet
    families: Mapping[str, list[str]]
    settings: Mapping[str, Any]

    @classmethod
    def load(cls, path: str | Path) -> "LawDesign":
        """Read a law file; it explains every key."""
        path = Path(path)
        content = read_config(path)
        check_keys(content, _KEYS, _KEYS, where=str(path))
        catalogue = _catalogue(
            DomainSet.load(path.parent / content["domains"]), content["former"], path
        )
        families: dict[str, list[str]] = {}
        for task in read_config(path.parent / content["tasks"])["tasks"]:
            families.setdefault(task["family"], []).append(task["name"])
        design = cls(catalogue, families, content)
        design._check(path)
        return design

    def _check(self, path: Path) -> None:
        """Every domain must be said to teach something, every family to need what is taught."""
        teaches, former = self.settings["teaches"], self.settings["former"]
        for domain in self.catalogue:
            if not {domain.name, domain.source} & {*teaches, *former}:
                raise OlmixError(f"{path}: teaches has neither '{domain.name}' nor its source")
        check_keys(self.settings["needs"], tuple(self.families), self.families, f"{path}: needs")
        for family, entry in self.settings["needs"].items():
            where = f"{path}: needs of '{family}'"
            check_keys(entry, ("level", "skills"), ("level", "skills"), where)
            check_keys(entry["skills"], self._skills(), where=where)

    @property
    def tasks(self) -> tuple[str, ...]:
        """All tasks, family by family."""
        return tuple(task for members in self.families.values() for task in members)

    @property
    def stores(self) -> dict[str, int]:
        """Everything the law is over, with tokens; an earlier content counts what it became."""
        tokens = {domain.name: domain.tokens for domain in self.catalogue}
        for name, entry in self.settings["former"].items():
            if name not in tokens:
                tokens[name] = sum(domain.tokens for domain in self._like(entry["like"]))
        return tokens

    def law(self, seed: int) -> Law:
        """The law of a seed; its noise is relative, for a model of noise 1."""
        needs = self._needs(seed)
        help_ = {
            domain.name: needs @ self._teaches(domain) + self._own(domain, seed)
            for domain in self.catalogue
            if domain.name not in self.settings["former"]
        }
        for name, entry in self.settings["former"].items():
            like = self._like(entry["like"])
            shares = np.array([domain.tokens for domain in like], dtype=float)
            whole = np.column_stack([help_[d.name] for d in like]) @ (shares / shares.sum())
            help_[name] = whole + self._normal(entry["change"], seed, "former", name)
        rng = _generator(seed, "tasks")
        count, settings = len(self.tasks), self.settings
        level = np.array([settings["needs"][family]["level"] for family in self._family_of_tasks()])
        level = level + settings["level_spread"] * rng.normal(size=count)

        def between(bounds: tuple[float, float]) -> np.ndarray:
            low, high = bounds
            return rng.uniform(low, high, size=count)

        strength = between(settings["strength"])
        help_matrix = np.column_stack([help_[name] for name in self.stores])
        return Law(
            domains=tuple(self.stores),
            tasks=self.tasks,
            coefficients=level[:, None] - strength[:, None] * help_matrix,
            constants=between(settings["constant"]),
            noise=between(settings["noise"]["tasks"]),
            shared=settings["noise"]["shared"],
        )

    def _skills(self) -> list[str]:
        taught = [skill for entry in self.settings["teaches"].values() for skill in entry]
        return list(dict.fromkeys(taught))

    def _teaches(self, domain: Domain) -> np.ndarray:
        """What a domain teaches, by skill."""
        entries = self.settings["teaches"]
        entry = entries.get(domain.name, entries.get(domain.source))
        return np.array([entry.get(skill, 0.0) for skill in self._skills()])

    def _needs(self, seed: int) -> np.ndarray:
        """What each task needs: (tasks, skills), rows sum to one."""
        skills, needs = self._skills(), np.zeros((len(self.tasks), len(self._skills())))
        for row, (task, family) in enumerate(zip(self.tasks, self._family_of_tasks(), strict=True)):
            wanted = self.settings["needs"][family]["skills"]
            concentration = self.settings["concentration"] * np.array(list(wanted.values()))
            drawn = _generator(seed, "needs", task).dirichlet(concentration)
            needs[row, [skills.index(skill) for skill in wanted]] = drawn
        return needs

    def _family_of_tasks(self) -> list[str]:
        return [family for family, members in self.families.items() for _ in members]

    def _own(self, domain: Domain, seed: int) -> np.ndarray:
        """The parts of a domain's help that no skill explains: its source's and its own."""
        own = self.settings["own"]
        return self._normal(own["source"], seed, "source", domain.source) + self._normal(
            own["domain"], seed, "domain", domain.name
        )

    def _normal(self, deviation: float, seed: int, *key: str) -> np.ndarray:
        return deviation * _generator(seed, *key).normal(size=len(self.tasks))

    def _like(self, name: str) -> list[Domain]:
        """The domains that a source or a name stands for."""
        if name in self.catalogue:
            return [self.catalogue[name]]
        return list(self.catalogue.of_source(name))


def _generator(seed: int, *key: str) -> np.random.Generator:
    """Numbers of their own for every name: a new domain leaves those of the others as they are."""
    return np.random.default_rng(int(content_hash([seed, *key]), 16))


def _catalogue(listed: DomainSet, former: Mapping[str, Any], path: str | Path) -> DomainSet:
    """The domains listed, and those of ``former`` that are domains of their own."""
    domains = list(listed)
    for name, entry in former.items():
        check_keys(entry, ("like", "change", "tokens"), ("like", "change"), f"{path}: '{name}'")
        if not (entry["like"] in listed or listed.of_source(entry["like"])):
            raise OlmixError(f"{path}: '{name}' is like '{entry['like']}', which is no domain")
        if "@" not in name and name not in listed:
            if "tokens" not in entry:
                raise OlmixError(f"{path}: '{name}' has no tokens, and no version (name@version)")
            domains.append(Domain.named(name, entry["tokens"]))
    return DomainSet(tuple(domains))
