"""Methods that train their swarm in rounds and look at the runs so far before each.

How many rounds there are and how many runs each has at most is known before the first: a round is
a swarm like any other, whose mixes come from the tables of those before it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from olmix.proposers.method import Method
    from olmix.proposers.proposal import Proposal, Request
    from olmix.tables import SwarmTable

__all__ = ["Done", "NextRuns", "Rounds", "round_sizes"]


@dataclass(frozen=True)
class NextRuns:
    """The runs of the next round: mixes (runs, domains), and the model that each is trained with.

    No runs: the method has seen enough.
    """

    mixes: np.ndarray
    models: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Done:
    """All runs so far; ``models`` says which model each was trained with.

    ``method`` is OlmixBase after its swarm, and ``families`` the tasks', for who fits by them.
    """

    swarm: "SwarmTable"
    models: tuple[str, ...]
    method: "Method"
    families: Mapping[str, list[str]] = field(default_factory=dict)


class Rounds(ABC):
    """A method in rounds; its settings are keyword arguments.

    ``models`` are those it may train, smallest first, with the cost of a run in runs of the last.
    """

    def __init__(self, models: Mapping[str, float]) -> None:
        self.models = dict(models)

    @property
    def largest(self) -> str:
        """The model that its answer is for."""
        return list(self.models)[-1]

    @abstractmethod
    def first(self, request: "Request", size: int, *, seed: int) -> NextRuns:
        """The runs of the first round."""

    @abstractmethod
    def following(self, done: Done, request: "Request", size: int, *, seed: int) -> NextRuns:
        """The runs of the round after ``done``."""

    @abstractmethod
    def propose(self, done: Done, request: "Request", *, seed: int) -> "Proposal":
        """The answer from all runs."""

    def ask(self, done: Done | None, request: "Request", size: int, *, seed: int) -> NextRuns:
        """The runs of a round; the first one has nothing to look at."""
        if done is None:
            return self.first(request, size, seed=seed)
        return self.following(done, request, size, seed=seed)


def round_sizes(
    runs_per_domain: float | Sequence[float], domains: int, most_rounds: int | None = None
) -> list[int]:
    """How many runs each round has at most, for so many domains.

    A list gives the runs per domain of each round; a number those of all, trained one a round, or
    more at a time where there would be more than ``most_rounds`` rounds.
    """
    if not isinstance(runs_per_domain, int | float):
        return [max(1, round(each * domains)) for each in runs_per_domain]
    runs = max(2, round(runs_per_domain * domains))
    rounds = min(runs, most_rounds or runs)
    each, more = divmod(runs, rounds)
    return [each + (number < more) for number in range(rounds)]
