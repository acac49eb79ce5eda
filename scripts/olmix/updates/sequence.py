"""A sequence of updates, as data: the stages a domain set goes through (§5.1)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from olmix.config_files import check_keys, check_name, read_config
from olmix.domains import Domain, DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.operators import (
    Add,
    Operator,
    Partition,
    Remove,
    ReuseSplit,
    Revise,
    Update,
    full_reuse,
    partial_reuse,
)

__all__ = ["Stage", "Step", "UpdateSequence", "load_updates"]

INITIAL = "initial"
#: The ``priors`` of a sequence: those of its file.
STATED = "stated"
# What the names of stages must not be: the last stage, and the swarms beside those of the stages.
RESERVED_STAGES = ("final", "target")
OPERATORS = ("add", "remove", "partition", "revise")


class Stage(NamedTuple):
    """A point of the sequence: its domains, and the update that led there (None at the start)."""

    name: str
    update: Update | None
    domains: DomainSet


@dataclass(frozen=True)
class Step:
    """One update of a sequence, and what partial mixture reuse recomputes besides the affected.

    ``prior`` is the share of each source in the stage's swarm and KL prior, natural inside a
    source; empty for the natural distribution. ``reuse_prior`` are the shares of some sources where
    mixtures are reused, the others keeping their ratios.
    """

    name: str
    update: Update
    recompute: tuple[str, ...] = ()
    prior: Mapping[str, float] = field(default_factory=dict)
    reuse_prior: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class UpdateSequence:
    """An initial domain set and the updates it goes through.

    ``reuse_within`` are the sources inside which partial mixture reuse freezes ratios; without
    any, it freezes all unaffected domains but a step's ``recompute``. ``initial_prior`` is a
    step's ``prior``, for the initial stage. ``method`` is the mixing method that answers every
    stage, whatever is frozen: the collapsed problem is a mixing problem.
    """

    initial: DomainSet
    steps: tuple[Step, ...]
    reuse_within: tuple[str, ...] = ()
    initial_prior: Mapping[str, float] = field(default_factory=dict)
    method: str = "olmix_base"

    def __post_init__(self) -> None:
        """Walk through all stages once, so that a wrong step is refused before any work."""
        names = [INITIAL, *(step.name for step in self.steps)]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise OlmixError(f"updates: stage name '{repeated[0]}' appears more than once")
        stages = self.stages()
        for stage in stages[1:]:
            try:
                self.partial_reuse(stage.name)
            except OlmixError as error:
                raise OlmixError(f"update '{stage.name}': {error}") from None
        sources = {source for stage in stages for source in stage.domains.sources}
        for source in self.reuse_within:
            if source not in sources:
                raise OlmixError(f"reuse_within: no stage has a source '{source}'")

    def stages(self) -> list[Stage]:
        """The initial stage, then one per update."""
        return list(self._stages)

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        """Worked out once: the workflow asks for them thousands of times."""
        stages = [Stage(INITIAL, None, self.initial)]
        for step in self.steps:
            try:
                domains = step.update.apply(stages[-1].domains)
            except OlmixError as error:
                raise OlmixError(f"update '{step.name}': {error}") from None
            stages.append(Stage(step.name, step.update, domains))
        return tuple(stages)

    def prior(self, stage: str, *, reuse: bool = False) -> Mix:
        """The prior of a stage's swarms and KL terms: its sources' shares, natural inside.

        With ``reuse`` it is that of the strategies that reuse mixtures, where it is another one.
        """
        domains = {entry.name: entry.domains for entry in self.stages()}[stage]
        step = next((step for step in self.steps if step.name == stage), None)
        shares = dict(step.prior if step else self.initial_prior)
        fixed = step.reuse_prior if step and reuse else {}
        totals = {s: sum(d.tokens for d in domains.of_source(s)) for s in domains.sources}
        if not shares and not fixed:
            return domains.natural()
        if fixed:
            rest = {s: share for s, share in (shares or totals).items() if s not in fixed}
            left = (1 - sum(fixed.values())) / sum(rest.values())
            shares = {**fixed, **{source: share * left for source, share in rest.items()}}
        weights = [shares[d.source] * d.tokens / totals[d.source] for d in domains]
        return Mix(domains.names, np.array(weights))

    def parts(self, stage: str) -> dict[str, tuple[str, ...]]:
        """The domains that were partitioned to get to a stage, and their parts."""
        operators = next((s.update.operators for s in self.steps if s.name == stage), ())
        return {
            operator.whole: tuple(part.name for part in operator.parts)
            for operator in operators
            if isinstance(operator, Partition)
        }

    def full_reuse(self, stage: str) -> ReuseSplit:
        """What full mixture reuse freezes and recomputes at a stage."""
        _, before, after = self._transition(stage)
        return full_reuse(before, after)

    def partial_reuse(self, stage: str) -> ReuseSplit:
        """What partial mixture reuse freezes and recomputes at a stage."""
        step, before, after = self._transition(stage)
        return partial_reuse(
            before, after, recompute=step.recompute, reuse_within=self.reuse_within
        )

    def _transition(self, stage: str) -> tuple[Step, DomainSet, DomainSet]:
        """The step that leads to a stage, with the domains before and after it."""
        stages = self.stages()
        for step, before, after in zip(self.steps, stages, stages[1:], strict=False):
            if step.name == stage:
                return step, before.domains, after.domains
        known = ", ".join(step.name for step in self.steps)
        raise OlmixError(f"updates: no update '{stage}', expected one of {known}")


def load_updates(
    path: str | Path, catalogue: DomainSet | None = None, *, priors: str = STATED
) -> UpdateSequence:
    """Read an updates file; `config/updates/paper.yaml` shows and explains every key.

    ``catalogue`` replaces the file's own ``domains``: the same updates on counted domains.
    ``priors`` are those that the file states, or ``natural`` at every stage.
    """
    path = Path(path)
    content = read_config(path)
    keys = (
        "description", "domains", "initial", "initial_prior", "reuse_within", "method", "updates",
    )  # fmt: skip
    check_keys(content, keys, ("domains", "initial", "updates"), where=str(path))
    try:
        catalogue = catalogue or _catalogue(content["domains"], path.parent)
        initial = DomainSet(tuple(_named_domains(content["initial"], "initial", catalogue)))
        initial_prior = _prior(content.get("initial_prior", {}), initial, "initial_prior")
        steps: list[Step] = []
        domains = initial
        for number, entry in enumerate(_entries(content["updates"]), start=1):
            step = _step(number, entry, catalogue, domains)
            steps.append(step)
            domains = step.update.apply(domains)
        reuse_within = tuple(_names(content.get("reuse_within", []), "reuse_within"))
        method = check_name(content.get("method", "olmix_base"), "method")
        sequence = UpdateSequence(initial, tuple(steps), reuse_within, initial_prior, method)
        return sequence if priors == STATED else _with_natural_priors(sequence)
    except OlmixError as error:
        message = str(error)
        raise OlmixError(message if str(path) in message else f"{path}: {message}") from None


def _with_natural_priors(sequence: UpdateSequence) -> UpdateSequence:
    steps = tuple(replace(step, prior={}, reuse_prior={}) for step in sequence.steps)
    return replace(sequence, steps=steps, initial_prior={})


def _catalogue(value: Any, folder: Path) -> DomainSet:
    """The domains that names in the file refer to: a domain file, a mapping, or a list of such."""
    if isinstance(value, list):
        return DomainSet(tuple(d for part in value for d in _catalogue(part, folder)))
    if isinstance(value, str):
        return DomainSet.load(folder / value)
    return DomainSet.from_dict(value)


def _entries(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise OlmixError(f"updates: {value!r}, expected a list of updates")
    return value


def _step(number: int, entry: Any, catalogue: DomainSet, domains: DomainSet) -> Step:
    """One entry under ``updates``; its operators apply in the order they are written."""
    if not isinstance(entry, Mapping):
        raise OlmixError(f"update {number}: {entry!r}, expected a mapping of keys")
    where = f"update {number}"
    check_keys(
        entry, ("name", *OPERATORS, "recompute", "prior", "reuse_prior"), ("name",), where=where
    )
    name = check_name(entry["name"], where)
    if name in RESERVED_STAGES or re.search(r"-(probe|round\d+)$", name):
        raise OlmixError(f"{where}: name '{name}' means something else here, expected another")
    where = f"update '{name}'"
    recompute = tuple(_present(entry.get("recompute", []), "recompute", domains))
    operators: list[Operator] = []
    for key in (key for key in entry if key in OPERATORS):
        try:
            made = list(_operators(key, entry[key], catalogue, domains))
            domains = Update(tuple(made)).apply(domains)
        except OlmixError as error:
            raise OlmixError(f"{where}: {error}") from None
        operators += made
    if not operators:
        raise OlmixError(f"{where}: changes nothing, expected one of {', '.join(OPERATORS)}")
    prior = _prior(entry.get("prior", {}), domains, where)
    reuse_prior = _some_shares(entry.get("reuse_prior", {}), domains, where)
    return Step(name, Update(tuple(operators)), recompute, prior, reuse_prior)


def _some_shares(value: Any, domains: DomainSet, where: str) -> dict[str, float]:
    """Shares of some sources, which leave the others something."""
    if not isinstance(value, Mapping):
        raise OlmixError(f"{where}: reuse_prior {value!r}, expected shares of sources")
    for source, share in value.items():
        if source not in domains.sources or not isinstance(share, int | float) or not share > 0:
            raise OlmixError(f"{where}: reuse_prior has {source!r}: {share!r}, expected a source")
    if sum(value.values()) >= 1 or len(value) == len(domains.sources):
        raise OlmixError(f"{where}: reuse_prior {value!r} leaves nothing to the other sources")
    return dict(value)


def _prior(value: Any, domains: DomainSet, where: str) -> dict[str, float]:
    """Shares of the sources after an update: all of them, positive; they are normalised."""
    if not value:
        return {}
    if not isinstance(value, Mapping) or set(value) != set(domains.sources):
        expected = ", ".join(domains.sources)
        raise OlmixError(f"{where}: prior {value!r}, expected a share for each of {expected}")
    for source, share in value.items():
        if not isinstance(share, int | float) or not share > 0:
            raise OlmixError(f"{where}: prior of '{source}' is {share!r}, expected more than 0")
    total = sum(value.values())
    return {source: share / total for source, share in value.items()}


def _operators(
    key: str, value: Any, catalogue: DomainSet, domains: DomainSet
) -> Iterator[Operator]:
    """The operators one key of an update stands for."""
    if key == "add":
        yield Add(tuple(_named_domains(value, key, catalogue)))
    elif key == "remove":
        yield Remove(tuple(_present(value, key, domains)))
    elif key == "revise":
        changes = value if isinstance(value, Mapping) else dict.fromkeys(_names(value, key))
        for name, tokens in changes.items():
            yield Revise(name, tokens)
    else:
        wholes = (
            value if isinstance(value, Mapping) else {w: [f"{w}:*"] for w in _names(value, key)}
        )
        for whole, parts in wholes.items():
            yield Partition(whole, _parts(whole, parts, catalogue, domains))


def _parts(whole: str, parts: Any, catalogue: DomainSet, domains: DomainSet) -> tuple[Domain, ...]:
    """The parts of a partition: names of the catalogue, or ``{name: tokens}``."""
    if not isinstance(parts, Mapping):
        return tuple(_named_domains(parts, f"partition of '{whole}'", catalogue))
    source = domains[whole].source
    return tuple(
        Domain(name, source, str(name).removeprefix(f"{source}:"), tokens)
        for name, tokens in parts.items()
    )


def _named_domains(value: Any, key: str, catalogue: DomainSet) -> Iterator[Domain]:
    """The domains a list of names (or a mapping of new names to tokens) stands for.

    ``source:*`` is every domain of a source; the bare name of a source that the catalogue divides
    into topics is that source as one domain.
    """
    if isinstance(value, Mapping):
        yield from DomainSet.from_dict(value)
        return
    for name in _names(value, key):
        source = name.removesuffix(":*")
        members = catalogue.of_source(source)
        if name in catalogue:
            yield catalogue[name]
        elif not members:
            raise OlmixError(f"{key}: '{name}' is neither a domain nor a source under 'domains'")
        elif name.endswith(":*"):
            yield from members
        else:
            yield Domain(name, name, None, sum(domain.tokens for domain in members))


def _present(value: Any, key: str, domains: DomainSet) -> Iterator[str]:
    """The names of a list, where ``source:*`` is every domain the source has at this stage."""
    for name in _names(value, key):
        if name in domains or not name.endswith(":*"):
            yield name
            continue
        members = domains.of_source(name.removesuffix(":*"))
        if not members:
            raise OlmixError(f"{key}: no domain of the stage belongs to '{name}'")
        yield from (domain.name for domain in members)


def _names(value: Any, key: str) -> list[str]:
    """A list of names; a single name may stand for a list of one."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise OlmixError(f"{key}: {value!r}, expected a list of names (quote numbers in YAML)")
    return names
