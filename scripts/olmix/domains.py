"""Domains, token counts, the natural distribution and the repetition caps (§3.1.1, §3.3.4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from olmix.config_files import check_keys, read_config
from olmix.errors import OlmixError
from olmix.files import write_json, write_text
from olmix.mix import Mix

__all__ = ["Domain", "DomainSet", "check_caps"]

# A swarm table has these columns before its domains, so no domain may have such a name.
RESERVED_NAMES = ("run", "name", "index")


@dataclass(frozen=True)
class Domain:
    """One domain D_j of N_j tokens.

    ``version`` tells two contents of the same name apart: a revised domain has a new one, so that
    runs on the old contents are not taken for runs on the new.
    """

    name: str
    source: str
    topic: str | None
    tokens: int
    version: str = "1"

    def __post_init__(self) -> None:
        """Refuse names and token counts that mean nothing."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise OlmixError(f"domain name {self.name!r}: expected text (quote it in YAML)")
        if self.name in RESERVED_NAMES:
            raise OlmixError(f"domain name '{self.name}' is a column of the swarm tables")
        object.__setattr__(self, "tokens", _token_count(self.name, self.tokens))

    @classmethod
    def named(cls, name: str, tokens: int, version: str = "1") -> "Domain":
        """A domain whose name says its source and topic: ``source:topic``, or ``source`` alone."""
        if not isinstance(name, str):
            raise OlmixError(f"domain name {name!r}: expected text (quote it in YAML)")
        source, _, topic = name.partition(":")
        return cls(name, source, topic or None, tokens, version)


def _token_count(name: str, tokens: Any) -> int:
    """``tokens`` as a positive int; a whole-valued float (JSON's 1e9) counts as one."""
    number = isinstance(tokens, int | float | np.number) and not isinstance(tokens, bool)
    if not number or not np.isfinite(tokens) or tokens != int(tokens):
        raise OlmixError(f"domain '{name}': tokens is {tokens!r}, expected a whole number")
    if tokens <= 0:
        raise OlmixError(f"domain '{name}': tokens is {tokens}, expected more than 0")
    return int(tokens)


@dataclass(frozen=True)
class DomainSet:
    """An ordered set D of domains with unique names."""

    domains: tuple[Domain, ...]

    def __post_init__(self) -> None:
        """Refuse an empty set and repeated names."""
        object.__setattr__(self, "domains", tuple(self.domains))
        if not self.domains:
            raise OlmixError("domain set: no domains, expected at least one")
        names = self.names
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise OlmixError(f"domain set: '{repeated[0]}' appears more than once")

    @classmethod
    def from_token_counts(cls, token_counts: Mapping[str, int]) -> "DomainSet":
        """Domains from ``{name: tokens}``; ``source:topic`` names say their source and topic."""
        return cls(tuple(Domain.named(name, tokens) for name, tokens in token_counts.items()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The domains' names, in order."""
        return tuple(domain.name for domain in self.domains)

    @property
    def tokens(self) -> np.ndarray:
        """N_j for each domain, in order."""
        return np.array([domain.tokens for domain in self.domains], dtype=np.int64)

    @property
    def sources(self) -> tuple[str, ...]:
        """Each source once, in order of first appearance."""
        return tuple(dict.fromkeys(domain.source for domain in self.domains))

    def __len__(self) -> int:
        """The number of domains, m."""
        return len(self.domains)

    def __iter__(self) -> Iterator[Domain]:
        """The domains, in order."""
        return iter(self.domains)

    def __contains__(self, name: object) -> bool:
        """Whether a domain has this name."""
        return name in self.names

    def __getitem__(self, name: str) -> Domain:
        """The domain of this name."""
        for domain in self.domains:
            if domain.name == name:
                return domain
        raise OlmixError(f"domain set: no domain '{name}' among its {len(self)}")

    def of_source(self, source: str) -> tuple[Domain, ...]:
        """The domains of one source."""
        return tuple(domain for domain in self.domains if domain.source == source)

    def subset(self, names: Iterable[str]) -> "DomainSet":
        """The domains of these names, in the order given."""
        return DomainSet(tuple(self[name] for name in names))

    def natural(self) -> Mix:
        """The natural distribution: each domain in proportion to its tokens."""
        total = sum(domain.tokens for domain in self.domains)
        return Mix(self.names, np.array([domain.tokens / total for domain in self.domains]))

    def caps(self, repetition: float, requested: float) -> np.ndarray:
        """The repetition caps k·N_j/R: the weight at which domain j is seen ``repetition`` times.

        ``requested`` is R, the tokens of the target run. An infinite ``repetition`` caps nothing.
        """
        for what, value in (("repetition factor", repetition), ("requested tokens", requested)):
            if not value > 0:
                raise OlmixError(f"{what} is {value}, expected more than 0")
        return repetition * self.tokens / requested

    @classmethod
    def load(cls, path: str | Path) -> "DomainSet":
        """Read a ``.json`` or ``.yaml`` domain file.

        It holds ``domains`` (or, as the authors' files call it, ``token_counts``):
        ``{name: tokens}``, where in place of the tokens a mapping may give ``tokens``, ``source``,
        ``topic`` and ``version``. ``description`` and ``relative_sizes`` may stand beside it.
        """
        content = read_config(path)
        # A file with token counts is somebody else's: what more it holds is none of our business.
        if "token_counts" not in content:
            check_keys(content, ("domains", "description", "relative_sizes"), where=str(path))
        if ("domains" in content) == ("token_counts" in content):
            raise OlmixError(f"{path}: expected one of the keys 'domains' and 'token_counts'")
        key = "domains" if "domains" in content else "token_counts"
        try:
            return cls.from_dict(content[key])
        except OlmixError as error:
            raise OlmixError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "DomainSet":
        """Domains from ``{name: tokens}`` or ``{name: {tokens, source, topic, version}}``."""
        if not isinstance(entries, Mapping):
            raise OlmixError(f"domains: {entries!r}, expected a mapping of names to tokens")
        return cls(tuple(_domain(name, entry) for name, entry in entries.items()))

    def to_dict(self) -> dict[str, Any]:
        """What `from_dict` reads, as short as it can be."""
        entries: dict[str, Any] = {}
        for domain in self.domains:
            short = Domain.named(domain.name, domain.tokens)
            entries[domain.name] = (
                domain.tokens
                if domain == short
                else {
                    "tokens": domain.tokens,
                    "source": domain.source,
                    "topic": domain.topic,
                    "version": domain.version,
                }
            )
        return entries

    def save(self, path: str | Path) -> None:
        """Write a domain file that `load` reads, JSON or YAML by its suffix."""
        content = {"domains": self.to_dict()}
        suffix = Path(path).suffix
        if suffix == ".json":
            write_json(path, content)
        elif suffix in (".yaml", ".yml"):
            write_text(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
        else:
            raise OlmixError(f"{path}: ends in '{suffix}', expected .json, .yaml or .yml")


def _domain(name: str, entry: Any) -> Domain:
    """The domain that one entry of a domain file describes."""
    if not isinstance(entry, Mapping):
        return Domain.named(name, entry)
    check_keys(
        entry, ("tokens", "source", "topic", "version"), ("tokens",), where=f"domain '{name}'"
    )
    short = Domain.named(name, entry["tokens"])
    return Domain(
        name,
        entry.get("source", short.source),
        entry.get("topic", short.topic),
        short.tokens,
        str(entry.get("version", short.version)),
    )


def check_caps(names: Sequence[str], caps: np.ndarray, requested: float | None = None) -> None:
    """Refuse caps no mix can meet: since weights sum to 1, the caps must sum to 1 or more.

    ``requested`` is R: with it the error says how many tokens the domains would suffice for.
    """
    caps = np.asarray(caps, dtype=float)
    if caps.shape != (len(names),):
        raise OlmixError(f"caps: {caps.size} caps for {len(names)} domains")
    wrong = np.isnan(caps) | (caps < 0)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise OlmixError(f"caps: the cap of '{names[first]}' is {caps[first]}, expected 0 or more")
    total = float(caps.sum())
    if total >= 1.0 - 1e-12:
        return
    largest = np.argsort(-caps, kind="stable")[:3]
    listed = ", ".join(f"{names[j]} {caps[j]:.4g}" for j in largest)
    enough = f"{total:.4g} times as many" if requested is None else f"{total * requested:.4g}"
    raise OlmixError(
        f"caps: the repetition caps k·N/R sum to {total:.4g}, expected at least 1 "
        f"(largest: {listed}); request at most {enough} tokens, raise the repetition factor, "
        "or add domains"
    )
