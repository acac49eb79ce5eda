"""Proposers: from a fitted surrogate, or a swarm, to a mix (§2.2 step 3); the solvers by name."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from olmix.errors import OlmixError

__all__ = ["SOLVERS", "Solver", "solver_of"]


@dataclass(frozen=True)
class Solver:
    """What planning and figures know of a solver; its function does the work.

    Parameters
    ----------
    name, path
        What it is called in files, and where its function is: imported when it is asked for, as
        the convex solver is slow to import. It takes (surrogate, swarm, request, seed, settings).
    label
        How it is written in figures and sentences.
    convex_only
        Whether it needs a family whose prediction is convex.
    compared
        Whether RQ7 compares it beside the exact solver, without a KL term.
    """

    name: str
    path: str
    label: str
    convex_only: bool = False
    compared: bool = False

    def function(self) -> Callable[..., Any]:
        """The solver's function, imported when it is asked for."""
        module, _, attribute = self.path.rpartition(".")
        return getattr(import_module(module), attribute)


#: Every solver by name. A new one is its function and its entry.
SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("exact", "olmix.proposers.exact.solve", label="exact", convex_only=True),
        Solver("search", "olmix.proposers.search.solve", label="search", compared=True),
        Solver("simulated", "olmix.proposers.simulated.solve", label="best of many"),
        Solver("best_run", "olmix.proposers.best_run.solve", label="best run"),
    )
}


def solver_of(name: str) -> Solver:
    """A solver by name; one that does not exist is refused with those that do."""
    if name not in SOLVERS:
        raise OlmixError(f"proposer {name!r}: expected one of {', '.join(SOLVERS)}")
    return SOLVERS[name]
