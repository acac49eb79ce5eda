"""The domain file beside a swarm: how many tokens each domain has, and the prior of the KL term."""

from collections.abc import Sequence
from pathlib import Path

from olmix.config_files import read_config
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.tables import SwarmTable

__all__ = ["check_same_domains", "domains_from", "prior_from"]


def check_same_domains(found: Sequence[str], expected: Sequence[str], what: str) -> None:
    """Refuse two sets of domains that differ, naming what only one side has."""
    for names, others, where in (
        (found, expected, "has no token count"),
        (expected, found, f"is not in {what}"),
    ):
        missing = [name for name in names if name not in set(others)]
        if missing:
            raise OlmixError(f"domain '{missing[0]}' {where} ({len(missing)} such)")


def domains_from(path: Path | None, swarm: SwarmTable) -> tuple[DomainSet | None, Mix]:
    """Token counts, if there are any, and the prior of the KL term, over a swarm's domains.

    Without a file, or with one that gives neither, nothing says how large the domains are: there
    are no token counts, and the prior is the mean of the swarm's mixes.
    """
    centre = Mix(swarm.domains, swarm.mixes.mean(0))
    if path is None:
        return None, centre
    content = read_config(path)
    if not {"domains", "token_counts"} & set(content):
        if "relative_sizes" in content:
            return None, _prior(path, content["relative_sizes"], swarm.domains)
        return None, centre
    domains = DomainSet.load(path)
    check_same_domains(swarm.domains, domains.names, "the swarm")
    domains = domains.subset(swarm.domains)
    return domains, prior_from(path, domains)


def prior_from(path: Path, domains: DomainSet) -> Mix:
    """The KL prior of a domain file: its ``relative_sizes``, or the natural distribution."""
    sizes = read_config(path).get("relative_sizes")
    return domains.natural() if sizes is None else _prior(path, sizes, domains.names)


def _prior(path: Path, sizes: dict[str, float], names: Sequence[str]) -> Mix:
    if not isinstance(sizes, dict):
        raise OlmixError(f"{path}: relative_sizes is {sizes!r}, expected {{domain: size}}")
    check_same_domains(list(sizes), names, "relative_sizes")
    for name, size in sizes.items():
        if not isinstance(size, int | float) or not size > 0:
            raise OlmixError(f"{path}: relative size of '{name}' is {size}, expected more than 0")
    total = sum(sizes.values())
    return Mix.from_dict({name: size / total for name, size in sizes.items()}).aligned(names)
