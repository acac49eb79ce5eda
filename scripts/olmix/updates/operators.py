"""How a domain set changes: add, remove, partition, revise, and what is left alone (§4.1).

An update turns D = [D_1, D_2] into D' = [D_1, D_2']: the unaffected domains D_1 stay, the affected
ones D_2 become D_2'. `ReuseSplit` says which of the ratios known before an update stay frozen.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix

__all__ = [
    "Add",
    "DomainSplit",
    "Operator",
    "Partition",
    "Remove",
    "ReuseSplit",
    "Revise",
    "Update",
    "full_reuse",
    "infer_update",
    "partial_reuse",
    "split_domains",
]

# The virtual domain of full mixture reuse: all unaffected domains together.
EXISTING = "existing"


@dataclass(frozen=True)
class DomainSplit:
    """The names in D_1 (``unaffected``), D_2 (``affected``) and D_2' (``resulting``)."""

    unaffected: tuple[str, ...]
    affected: tuple[str, ...]
    resulting: tuple[str, ...]


def split_domains(before: DomainSet, after: DomainSet) -> DomainSplit:
    """Split two domain sets; a domain is unaffected if nothing about it changed."""
    old, new = set(before), set(after)
    return DomainSplit(
        unaffected=tuple(domain.name for domain in before if domain in new),
        affected=tuple(domain.name for domain in before if domain not in new),
        resulting=tuple(domain.name for domain in after if domain not in old),
    )


class Operator(ABC):
    """One change of a domain set."""

    @abstractmethod
    def apply(self, domains: DomainSet) -> DomainSet:
        """D' from D; refuses an operator that does not fit D."""

    @abstractmethod
    def represent(self, mix: Mix, domains: DomainSet) -> Mix | None:
        """A run's mix over D (``domains``) as a mix over D' (Swarm Reuse, appendix D.2).

        None if the run cannot be reused: it put weight on contents that are no longer there.
        """

    def split(self, domains: DomainSet) -> DomainSplit:
        """The unaffected and affected domains of D, and what the affected become."""
        return split_domains(domains, self.apply(domains))


@dataclass(frozen=True)
class Add(Operator):
    """New domains: D_2 is empty, D_2' holds them."""

    domains: tuple[Domain, ...]

    def apply(self, domains: DomainSet) -> DomainSet:
        """The domain set with the new domains appended."""
        for domain in self.domains:
            if domain.name in domains:
                raise OlmixError(f"add: domain '{domain.name}' is already in the set")
        return DomainSet(domains.domains + self.domains)

    def represent(self, mix: Mix, domains: DomainSet) -> Mix:
        """An old run on the new domain set: it has weight 0 on the new domains."""
        return mix.aligned(self.apply(domains).names)


@dataclass(frozen=True)
class Remove(Operator):
    """Domains dropped: D_2 holds them, D_2' is empty."""

    names: tuple[str, ...]

    def apply(self, domains: DomainSet) -> DomainSet:
        """The domain set without the named domains."""
        for name in self.names:
            _check_known("remove", name, domains)
        kept = tuple(domain for domain in domains if domain.name not in self.names)
        if not kept:
            raise OlmixError(f"remove: no domain is left after removing all {len(domains)}")
        return DomainSet(kept)

    def represent(self, mix: Mix, domains: DomainSet) -> Mix | None:
        """An old run on the new domain set, unless it used a removed domain."""
        if set(self.names) & set(mix.support):
            return None
        return mix.aligned(self.apply(domains).names)


@dataclass(frozen=True)
class Partition(Operator):
    """One domain split into parts that together are the whole."""

    whole: str
    parts: tuple[Domain, ...]

    def apply(self, domains: DomainSet) -> DomainSet:
        """Put the parts where the whole was."""
        _check_known("partition", self.whole, domains)
        if len(self.parts) < 2:
            raise OlmixError(
                f"partition: '{self.whole}' into {len(self.parts)} parts, expected 2 or more"
            )
        for part in self.parts:
            if part.name in domains:
                raise OlmixError(f"partition: part '{part.name}' is already in the set")
        total, expected = sum(part.tokens for part in self.parts), domains[self.whole].tokens
        if total != expected:
            raise OlmixError(
                f"partition: the {len(self.parts)} parts of '{self.whole}' hold {total} tokens, "
                f"expected the {expected} of the whole"
            )
        place = domains.names.index(self.whole)
        return DomainSet(domains.domains[:place] + self.parts + domains.domains[place + 1 :])

    def represent(self, mix: Mix, domains: DomainSet) -> Mix:
        """The same run: the whole's weight was spread over the parts in proportion to tokens."""
        weights = mix.aligned(domains.names).to_dict()
        whole, total = weights.pop(self.whole), sum(part.tokens for part in self.parts)
        weights.update({part.name: whole * part.tokens / total for part in self.parts})
        return Mix.from_dict(weights).aligned(self.apply(domains).names)


@dataclass(frozen=True)
class Revise(Operator):
    """One domain whose contents change under the same name.

    Without ``tokens`` its count stays; without ``version`` it gets the next one, so that runs on
    the old contents are not taken for runs on the new.
    """

    name: str
    tokens: int | None = None
    version: str | None = None

    def apply(self, domains: DomainSet) -> DomainSet:
        """Give the domain its new token count and version."""
        _check_known("revise", self.name, domains)
        old = domains[self.name]
        tokens = old.tokens if self.tokens is None else self.tokens
        version = _next_version(old.version) if self.version is None else self.version
        if version == old.version:
            raise OlmixError(f"revise: '{self.name}' already has version '{version}'")
        new = replace(old, tokens=tokens, version=version)
        return DomainSet(tuple(new if domain == old else domain for domain in domains))

    def represent(self, mix: Mix, domains: DomainSet) -> Mix | None:
        """An old run on the new domain set, unless it used the old contents."""
        return None if self.name in mix.support else mix.aligned(domains.names)


@dataclass(frozen=True)
class Update(Operator):
    """Several operators applied in order as one update."""

    operators: tuple[Operator, ...]

    def apply(self, domains: DomainSet) -> DomainSet:
        """The domain set after each operator in turn."""
        for operator in self.operators:
            domains = operator.apply(domains)
        return domains

    def represent(self, mix: Mix, domains: DomainSet) -> Mix | None:
        """Carry the run through each in turn; None as soon as one cannot."""
        for operator in self.operators:
            carried = operator.represent(mix, domains)
            if carried is None:
                return None
            mix, domains = carried, operator.apply(domains)
        return mix


def _check_known(operator: str, name: str, domains: DomainSet) -> None:
    if name not in domains:
        raise OlmixError(f"{operator}: domain '{name}' is not in the set of {len(domains)} domains")


def _next_version(version: str) -> str:
    return str(int(version) + 1) if version.isdecimal() else f"{version}+1"


def infer_update(
    before: DomainSet, after: DomainSet, partitions: Mapping[str, Iterable[str]] | None = None
) -> Update:
    """The update between two domain sets: same name with other contents means revised.

    That a removed domain became several added ones cannot be seen from names and token counts:
    ``partitions`` says so, as ``{whole: parts}``.
    """
    partitions = {whole: tuple(parts) for whole, parts in (partitions or {}).items()}
    operators: list[Operator] = []
    for whole, parts in partitions.items():
        if whole in after:
            raise OlmixError(f"partition: '{whole}' is still in the new set")
        operators.append(Partition(whole, tuple(after[part] for part in parts)))
    made = {part for parts in partitions.values() for part in parts}
    for old in before:
        if old.name in after and after[old.name] != old:
            new = after[old.name]
            version = new.version if new.version != old.version else None
            operators.append(Revise(old.name, new.tokens, version))
    added = tuple(
        domain for domain in after if domain.name not in before and domain.name not in made
    )
    if added:
        operators.append(Add(added))
    removed = tuple(n for n in before.names if n not in after and n not in partitions)
    if removed:
        operators.append(Remove(removed))
    if not operators:
        raise OlmixError("update: the two domain sets are the same, so there is nothing to update")
    return Update(tuple(operators))


@dataclass(frozen=True)
class ReuseSplit:
    """What a reuse strategy freezes and what it recomputes at one stage (§4.2, §4.4).

    ``groups`` maps the name of each virtual domain to its members, whose relative ratios stay
    those of the mix before the update; ``recomputed`` are the domains with a weight of their own.
    """

    groups: Mapping[str, tuple[str, ...]]
    recomputed: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse empty groups, shared members, and virtual names that are real ones."""
        groups = {name: tuple(members) for name, members in self.groups.items()}
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "recomputed", tuple(self.recomputed))
        for name, members in groups.items():
            if not members:
                raise OlmixError(f"reuse: the virtual domain '{name}' has no members")
            if name in self.members and members != (name,):
                raise OlmixError(
                    f"reuse: the virtual domain '{name}' has the name of a domain; rename one"
                )
        repeated = [name for name in self.members if self.members.count(name) > 1]
        if repeated:
            raise OlmixError(f"reuse: domain '{repeated[0]}' is in more than one place")

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "ReuseSplit":
        """The split that `to_dict` made a record of."""
        return cls(record["frozen"], tuple(record["recomputed"]))

    def to_dict(self) -> dict[str, Any]:
        """What is frozen together and what is recomputed, as plain JSON values."""
        frozen = {name: list(members) for name, members in self.groups.items()}
        return {"frozen": frozen, "recomputed": list(self.recomputed)}

    @property
    def names(self) -> tuple[str, ...]:
        """The collapsed domains: the virtual ones, then the recomputed ones."""
        return (*self.groups, *self.recomputed)

    @property
    def members(self) -> tuple[str, ...]:
        """The domains of D' the split covers, frozen ones first."""
        return (*(n for members in self.groups.values() for n in members), *self.recomputed)

    @property
    def dimension(self) -> int:
        """How many weights are recomputed; none if all there is left is one virtual domain."""
        return 0 if len(self.names) == 1 else len(self.names)


def full_reuse(before: DomainSet, after: DomainSet) -> ReuseSplit:
    """Full mixture reuse (§4.2): all unaffected domains are one virtual domain."""
    return partial_reuse(before, after)


def partial_reuse(
    before: DomainSet,
    after: DomainSet,
    *,
    recompute: Iterable[str] = (),
    reuse_within: Iterable[str] = (),
) -> ReuseSplit:
    """Partial mixture reuse (§4.4): some unaffected domains are recomputed with the affected.

    ``recompute`` names unaffected domains to recompute. ``reuse_within`` names sources: if given,
    ratios are frozen only inside each of them, one virtual domain per source, and all else has a
    weight of its own. A source's affected domains are never in its group.
    """
    recompute, reuse_within = tuple(recompute), tuple(reuse_within)
    split = split_domains(before, after)
    for name in recompute:
        if name not in split.unaffected:
            why = "the update already recomputes it" if name in after else "no such domain"
            raise OlmixError(f"recompute: '{name}' is not an unaffected domain ({why})")
    frozen = [domain for domain in after if domain.name in split.unaffected]
    frozen = [domain for domain in frozen if domain.name not in recompute]
    groups: dict[str, tuple[str, ...]] = {}
    if not reuse_within:
        groups[EXISTING] = tuple(domain.name for domain in frozen)
    for source in reuse_within:
        groups[source] = tuple(domain.name for domain in frozen if domain.source == source)
    # Inside a group of one there is no ratio to freeze: it is a recomputed domain like the others.
    if reuse_within:
        groups = {name: members for name, members in groups.items() if len(members) > 1}
    groups = {name: members for name, members in groups.items() if members}
    inside = {name for members in groups.values() for name in members}
    return ReuseSplit(groups, tuple(name for name in after.names if name not in inside))
