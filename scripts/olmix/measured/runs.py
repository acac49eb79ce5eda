"""The released runs that a law is measured on: several swarms as one, over all their domains."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from olmix.errors import OlmixError
from olmix.tables import SwarmTable

__all__ = ["ReleasedRuns", "join_swarms"]


@dataclass(frozen=True)
class ReleasedRuns:
    """Mixes and metrics of all runs, and the swarm that each run is of."""

    domains: tuple[str, ...]
    tasks: tuple[str, ...]
    mixes: np.ndarray  # (runs, domains)
    metrics: np.ndarray  # (runs, tasks)
    swarm: np.ndarray  # (runs,), names

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.mixes)

    @property
    def largest(self) -> str:
        """The swarm with the most domains, whose mean mix says where returns begin to diminish."""
        names = list(dict.fromkeys(self.swarm))
        return max(names, key=lambda name: (self.mixes[self.swarm == name] > 0).any(0).sum())

    def first_source(self) -> str | None:
        """The source that some swarm is made of alone, if there is one beside others."""
        sources = np.array([name.partition(":")[0] for name in self.domains])
        for name in dict.fromkeys(self.swarm):
            used = set(sources[(self.mixes[self.swarm == name] > 0).any(0)])
            if len(used) == 1 and len(set(sources)) > 1:
                return used.pop()
        return None

    def alone(self) -> np.ndarray:
        """Which runs are of a swarm of one source alone: (runs,)."""
        first = self.first_source()
        members = np.array([name.partition(":")[0] == first for name in self.domains])
        return self.mixes[:, ~members].sum(1) <= 1e-9


def join_swarms(tables: Mapping[str, SwarmTable]) -> ReleasedRuns:
    """Swarms by name as one: a domain that a swarm does not have has weight 0 in its runs."""
    domains = tuple(dict.fromkeys(name for table in tables.values() for name in table.domains))
    tasks = next(iter(tables.values())).tasks
    mixes, metrics, names = [], [], []
    for name, table in tables.items():
        if set(table.tasks) != set(tasks):
            other = min(set(table.tasks) ^ set(tasks))
            raise OlmixError(f"swarm '{name}': task '{other}' is not in all swarms")
        rows = np.zeros((len(table), len(domains)))
        rows[:, [domains.index(domain) for domain in table.domains]] = table.mixes
        mixes.append(rows)
        metrics.append(table.select_tasks(tasks).metrics)
        names += [name] * len(table)
    return ReleasedRuns(domains, tasks, np.vstack(mixes), np.vstack(metrics), np.array(names))
